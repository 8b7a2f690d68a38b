// Control characters past those that JSON escapes, and format characters: bidirectional, zero-width, line separators.
const INVISIBLE = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** JSON text with the characters escaped that JSON allows and that could control a terminal; its value is the same. */
export function escapeJson(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    Array.from({ length: character.length }, (_, at) => escaped(character.charCodeAt(at))).join(""),
  );
}

/** A text on one line: everything but letters, marks, numbers, punctuation, symbols and spaces is escaped. */
export function escapeText(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => escaped(character.codePointAt(0) ?? 0));
}

function escaped(code: number): string {
  const digits = code.toString(16).padStart(4, "0");
  return digits.length === 4 ? `\\u${digits}` : `\\u{${digits}}`;
}
