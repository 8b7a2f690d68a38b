import type { Position } from "../../yaml/locator.ts";

/** One stretch of a value, and where it stands in the file. */
type Stretch = { readonly from: number; readonly line: number; readonly column: number };

/**
 * Finds the place of a character of a text value in its file: each line of the file that belongs to the value holds a
 * stretch of it, in any style of YAML. Characters that are written with an escape have the place of what is before them.
 */
export function placesOfText(lines: readonly string[], value: string, start: Position): (offset: number) => Position {
  const stretches = stretchesOf(lines, value, start);
  return (offset) => {
    const found = stretches.findLast(({ from }) => from <= offset);
    if (found === undefined) return start;
    return { line: found.line, column: found.column + offset - found.from };
  };
}

function stretchesOf(lines: readonly string[], value: string, start: Position): readonly Stretch[] {
  const found: Stretch[] = [];
  const first = lines[start.line - 1] ?? "";
  const head = first.slice(start.column - 1);
  const isBlock = /^[|>]/.test(head);
  let from = 0;
  for (let line = isBlock ? start.line + 1 : start.line; line <= lines.length && from < value.length; line += 1) {
    const text = lines[line - 1] ?? "";
    const skipped = line === start.line ? start.column - 1 + (/^["']/.test(head) ? 1 : 0) : text.search(/\S|$/);
    const stretch = sharedStart(text.slice(skipped).trimEnd(), value, from);
    if (stretch === null) continue;
    found.push({ from: stretch.from, line, column: skipped + 1 });
    from = stretch.from + stretch.length;
  }
  return found;
}

// The white space between two lines is folded in some styles, and kept in others.
function sharedStart(
  text: string,
  value: string,
  after: number,
): { readonly from: number; readonly length: number } | null {
  let from = after;
  while (from < value.length && /\s/.test(value[from] ?? "")) from += 1;
  let length = 0;
  while (length < text.length && text[length] === value[from + length]) length += 1;
  return length === 0 ? null : { from, length };
}
