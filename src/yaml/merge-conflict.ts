/** The message for unresolved merge conflicts. */
const CONFLICT = "a merge conflict that is not resolved";

const DETAIL = "Keep what is right, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`.";
const MARKER = /^(?:<{7} |={7}$|>{7} |\|{7} )/;

/** A text without its merge conflicts: as each side has it; the text itself if it has none. */
export function conflictSides(text: string): readonly string[] {
  if (!text.includes("<<<<<<< ")) return [text];
  const lines = text.split("\n");
  return [sideOf(lines, "theirs"), sideOf(lines, "ours")];
}

type Part = "both" | "ours" | "base" | "theirs";

const PARTS: { readonly [marker: string]: Part } = { "<": "ours", "|": "base", "=": "theirs", ">": "both" };

function sideOf(lines: readonly string[], other: Part): string {
  let part: Part = "both";
  const kept = lines.filter((line) => {
    const isMarker = MARKER.test(line.trimEnd());
    if (isMarker) part = PARTS[line.charAt(0)] ?? part;
    return !isMarker && part !== other && part !== "base";
  });
  return kept.join("\n");
}

/** The message for the first merge conflict of a text, and where it starts; null if it has none. */
export function firstMergeConflict(text: string) {
  return mergeConflictAt(text, text.search(/^<{7} /m));
}

/** The message for a merge conflict marker in the line of an offset, and where the line starts; null if it has none. */
export function mergeConflictAt(text: string, offset: number) {
  if (offset < 0) return null;
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end).trimEnd();
  return MARKER.test(line) ? { offset: start, summary: CONFLICT, detail: DETAIL } : null;
}
