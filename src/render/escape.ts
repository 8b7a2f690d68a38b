// Control and format characters (bidirectional and zero-width ones among them), line separators, lone surrogates.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The text with everything that could steer a terminal or forge a report shown as `\uXXXX`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u${character.codePointAt(0)?.toString(16).padStart(4, "0")}`);
}
