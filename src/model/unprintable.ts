/** Characters that reorder text or have no width: format characters, line and paragraph separators. */
export const INVISIBLE: RegExp = /[\p{Cf}\p{Zl}\p{Zp}]/u;

/** These, control characters and lone surrogates: they could control a terminal or mislead a reader. */
export const UNPRINTABLE: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text with every unprintable character shown as `\uXXXX`, or `\u{XXXXX}` beyond that. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
  });
}
