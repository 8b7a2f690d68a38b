import type { Position } from "../model/position.ts";

/** Line and column of offsets into one text, both from 1; the text is scanned when first asked. */
export function lineFinder(text: string): (offset: number) => Position {
  let starts: readonly number[] | null = null;
  return (offset) => {
    if (offset === 0) return { line: 1, column: 1 };
    starts ??= lineStarts(text);
    const line = lastAtOrBefore(starts, offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
