import { eastAsianWidth } from "get-east-asian-width";

const MARK = "…";
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}]/u;

/** The terminal columns of a printable text. */
export function columnsOf(text: string): number {
  // A fast path: the width of an ASCII text is its length.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += character <= "~" ? 1 : widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  return WITHOUT_WIDTH.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
}

/** The text padded with spaces to a number of columns. */
export function padColumns(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

/** The longest prefix of a text that fits in a number of columns. */
export function firstColumns(text: string, columns: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    taken += columnsOf(character);
    if (taken > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The text, cut at its end if it is wider than `columns`. */
export function cutEnd(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : firstColumns(text, Math.max(0, columns - 1)) + MARK;
}

/** The text, cut at its start if it is wider than `columns`. */
export function cutStart(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const reversed = [...text].toReversed().join("");
  return MARK + [...firstColumns(reversed, Math.max(0, columns - 1))].toReversed().join("");
}

/** The text, cut in its middle if it is wider than `columns`. */
export function cutMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const start = Math.ceil((columns - 1) / 2);
  return firstColumns(text, start) + cutStart(text, columns - start);
}

/** A text around the relevant part: if it is too wide, its start is cut first and then its end. */
export function cutAround(text: string, start: number, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  // A surrogate pair is not split.
  const at = /^[\udc00-\udfff]/.test(text.slice(start, start + 1)) ? start - 1 : start;
  const kept = at <= 1 ? text : MARK + text.slice(at);
  return cutEnd(kept, columns);
}
