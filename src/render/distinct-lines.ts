import { printable } from "./escape.ts";
import { looksAlike, sameLength, visibleText } from "./look-alike.ts";

/** Lines of a diff, printable and such that a removed line never looks like the added line that replaces it. */
export function distinctLines(lines: readonly string[], columns: number): readonly string[] {
  const shown = lines.map(printable);
  for (const [removed, added] of replacements(lines)) {
    const [was = "", is = ""] = [shown[removed], shown[added]];
    if (was.length <= columns && !looksAlike(was.slice(1), is.slice(1))) continue;
    const sides = distinct((lines[removed] ?? "").slice(1), (lines[added] ?? "").slice(1), columns);
    shown[removed] = `-${sides[0]}`;
    shown[added] = `+${sides[1]}`;
  }
  return shown;
}

// The n-th line of a run of removed lines, and the n-th of the run of added lines after it.
function* replacements(lines: readonly string[]): Generator<readonly [removed: number, added: number]> {
  let first = 0;
  while (first < lines.length) {
    const end = runEnd(lines, first, "-");
    const last = runEnd(lines, end, "+");
    for (let at = first; at < end && end + at - first < last; at++) yield [at, end + at - first];
    first = Math.max(last, first + 1);
  }
}

function runEnd(lines: readonly string[], from: number, sign: string): number {
  let end = from;
  while (lines[end]?.startsWith(sign)) end += 1;
  return end;
}

function distinct(before: string, after: string, columns: number): readonly [string, string] {
  const isAlike = looksAlike(printable(before), printable(after));
  const [was, is] = isAlike ? [visibleText(before), visibleText(after)] : [printable(before), printable(after)];
  const same = sameLength(was, is);
  const isCut = same > columns - LEAD && Math.max(was.length, is.length) > columns;
  return isCut ? [`…${was.slice(same - LEAD)}`, `…${is.slice(same - LEAD)}`] : [was, is];
}

const LEAD = 20;
