/** Characters that reorder text or have no width: format characters, line and paragraph separators. */
export const INVISIBLE: RegExp = /[\p{Cf}\p{Zl}\p{Zp}]/u;

// Invisible characters, control characters and lone surrogates: they could control a terminal or mislead a reader.
const UNPRINTABLE: RegExp = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

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

/** The same for a name, where a space other than U+0020, such as a no-break space, is a mistake that nobody sees. */
export function escapeName(name: string): string {
  return escapeUnprintable(name).replace(/(?! )\p{Zs}/gu, escaped);
}

function escaped(character: string): string {
  const code = hex(character.codePointAt(0) ?? 0);
  return code.length === 4 ? `\\u${code}` : `\\u{${code}}`;
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}
