/** The message for unresolved merge conflicts. */
export const CONFLICT = "a merge conflict that is not resolved";

const DETAIL = "Keep what is right, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`.";
const MARKER = /^(?:<{7} |={7}$|>{7} |\|{7} )/;

/** A text without the lines that mark a merge conflict. */
export function withoutConflictMarkers(text: string): string {
  if (!text.includes("<<<<<<< ")) return text;
  return text
    .split("\n")
    .filter((line) => !MARKER.test(line.trimEnd()))
    .join("\n");
}

/** The message for a merge conflict marker in the line of an offset, and where the line starts; null if it has none. */
export function mergeConflictAt(text: string, offset: number) {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end).trimEnd();
  return MARKER.test(line) ? { offset: start, summary: CONFLICT, detail: DETAIL } : null;
}
