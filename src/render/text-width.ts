const MARK = "…";
const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\uff01-\uff60\u{1f300}-\u{1faff}]/u;
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}]/u;

/** How many columns of a terminal a printable text takes. */
export function columnsOf(text: string): number {
  // Most texts are plain, and then as long as they are wide.
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += WITHOUT_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}

/** The text with spaces at its end, up to a number of columns. */
export function padColumns(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - columnsOf(text)));
}

/** The beginning of a text that takes at most some columns. */
function firstColumns(text: string, columns: number): string {
  let taken = 0;
  let end = 0;
  for (const character of text) {
    taken += columnsOf(character);
    if (taken > columns) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** The text, cut at its end where it is wider than that. */
export function cutEnd(text: string, columns: number): string {
  return columnsOf(text) <= columns ? text : firstColumns(text, Math.max(0, columns - 1)) + MARK;
}

/** The text, cut at its beginning where it is wider than that. */
export function cutStart(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const reversed = [...text].toReversed().join("");
  return MARK + [...firstColumns(reversed, Math.max(0, columns - 1))].toReversed().join("");
}

/** The text, cut in its middle where it is wider than that. */
export function cutMiddle(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  const start = Math.ceil((columns - 1) / 2);
  return firstColumns(text, start) + cutStart(text, columns - start);
}

/** A text around what is special in it: where it is too wide, its beginning goes first and then its end. */
export function cutAround(text: string, start: number, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  // A cut never goes through a character.
  const at = /^[\udc00-\udfff]/.test(text.slice(start, start + 1)) ? start - 1 : start;
  const kept = at <= 1 ? text : MARK + text.slice(at);
  return cutEnd(kept, columns);
}
