/** Characters that reorder text or take no room: format characters, line and paragraph separators. */
export const INVISIBLE: RegExp = /[\p{Cf}\p{Zl}\p{Zp}]/u;

/** Those, control characters and lone surrogates: what could steer a terminal or forge what a person reads. */
export const UNPRINTABLE: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text with every unprintable character shown as `\uXXXX`, or `\u{XXXXX}` beyond that. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, "0");
    return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
  });
}
