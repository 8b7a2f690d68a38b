import { diffWordsWithSpace } from "diff";
import { printable } from "./escape.ts";
import { looksAlike, sameLength, visibleText } from "./look-alike.ts";
import type { Paint } from "./paint.ts";
import { cutEnd } from "./text-width.ts";

/** Maximum lines shown per diff; the rest is counted. */
const MAX_LINES = 40;
/** Longer lines get no word diff. */
const MAX_LINE_LENGTH = 400;

const LEAD = 20;

/** A unified diff as text, with changed words emphasised, bounded in width and length. */
export function textDiffLines(
  diff: string,
  { paint, width, indent }: { readonly paint: Paint; readonly width: number; readonly indent: string },
): readonly string[] {
  const room = width - indent.length - 1;
  const lines = distinctLines(
    diff.split("\n").filter((line) => line !== ""),
    room - 1,
  );
  const shown = lines.slice(0, MAX_LINES);
  const painted = shown.map((line, index) => {
    const [mark, text] = [line.charAt(0), line.slice(1)];
    if (mark === "@" || mark === "\\") return paint("dim", cutEnd(printable(line), room + 1));
    if (mark === " ") return `  ${paint("dim", cutEnd(printable(text), room - 1))}`;
    return paintLine(mark, text, partnerOf(lines, index), { paint, room: room - 1 });
  });
  const rest = lines.length - shown.length;
  const more =
    rest === 0
      ? []
      : [paint("dim", cutEnd(`… and ${rest} more lines; -o json has all of them`, width - indent.length))];
  return [...painted, ...more].map((line) => `${indent}${line}`);
}

// The line's counterpart: the line at the same position in the adjacent run of the other sign.
function partnerOf(lines: readonly string[], index: number): string | null {
  const mark = lines[index]?.charAt(0) ?? "";
  const other = mark === "-" ? "+" : "-";
  let first = index;
  while (lines[first - 1]?.charAt(0) === mark) first -= 1;
  let last = index;
  while (lines[last + 1]?.charAt(0) === mark) last += 1;
  const size = last - first + 1;
  const partner = lines[mark === "-" ? index + size : index - size];
  return partner?.charAt(0) === other ? partner.slice(1) : null;
}

function paintLine(
  mark: string,
  text: string,
  partner: string | null,
  { paint, room }: { readonly paint: Paint; readonly room: number },
): string {
  const style = mark === "-" ? "red" : "green";
  const head = paint(style, `${mark} `);
  const shown = printable(text);
  const other = partner === null ? null : printable(partner);
  if (other === null || shown.length > Math.min(MAX_LINE_LENGTH, room) || other.length > MAX_LINE_LENGTH) {
    return head + paint(style, cutEnd(shown, room));
  }
  const [before, after] = mark === "-" ? [shown, other] : [other, shown];
  const parts = diffWordsWithSpace(before, after).filter((part) => (mark === "-" ? !part.added : !part.removed));
  return (
    head +
    parts
      .map(({ value, added, removed }) => {
        const coloured = paint(style, value);
        return added || removed ? paint("bold", coloured) : coloured;
      })
      .join("")
  );
}

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
