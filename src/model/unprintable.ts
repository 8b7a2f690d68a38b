// What no font draws and what reorders text: format characters, separators of lines and paragraphs, default-ignorable
// code points such as fillers and variation selectors, and two blank symbols.
const UNSEEN = String.raw`\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}`;
// A variation selector is seen after a character that has variants: a pictograph, a keycap, an ideograph.
const VARIANT = String.raw`(?<![\p{Extended_Pictographic}\p{Script=Han}\p{Script=Mongolian}]\p{Variation_Selector}|[\d#*]\ufe0f(?=\u20e3))`;

/** Characters that reorder text or are not drawn. */
export const INVISIBLE: RegExp = new RegExp(`[${UNSEEN}]${VARIANT}`, "u");

// Invisible characters, control characters and lone surrogates: they could control a terminal or mislead a reader.
const UNPRINTABLE: RegExp = new RegExp(`[\\p{Cc}\\p{Cs}${UNSEEN}]${VARIANT}`, "gu");

// A line feed in JSON text ends a line; inside a string it is already escaped.
const UNPRINTABLE_IN_JSON = new RegExp(`(?!\\n)${UNPRINTABLE.source}`, "gu");

/** Whether a text contains no unprintable character. */
export function isPrintable(text: string): boolean {
  return text.search(UNPRINTABLE) === -1;
}

/** The text with every unprintable character replaced by `?`. */
export function replaceUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, "?");
}

/** JSON text with unprintable characters escaped as far as JSON allows; its value does not change. */
export function escapeJson(text: string): string {
  return text.replace(UNPRINTABLE_IN_JSON, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(""),
  );
}

/** A text with every unprintable character shown as `\uXXXX`, or as `\u{XXXXX}` above U+FFFF. */
export function escapeUnprintable(text: string): string {
  return text.replace(UNPRINTABLE, escaped);
}

/**
 * The same for a name, where nobody sees two mistakes: a space other than U+0020, such as a no-break space, and a letter
 * of another script or of another width in a word that has letters of ASCII.
 */
export function escapeName(name: string): string {
  return escapeUnprintable(name)
    .replace(/(?! )\p{Zs}/gu, escaped)
    .replace(/[\p{L}\p{M}\p{Nd}]+/gu, (word) => (/[a-z]/i.test(word) ? word.replace(FOREIGN_LETTER, escaped) : word));
}

const FOREIGN_LETTER = /(?=\p{L})(?:\P{Script=Latin}|[\uff21-\uff3a\uff41-\uff5a])/gu;

function escaped(character: string): string {
  const code = hex(character.codePointAt(0) ?? 0);
  return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}
