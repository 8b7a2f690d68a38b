import { structuredPatch } from "diff";
import type { Json } from "../../contract/json.ts";

/** Longer texts get no diff: computing it costs more than it is worth. */
const MAX_TEXT_LENGTH = 256 * 1024;
/** Maximum number of removed and added lines in the search: the cost grows with their square. */
const MAX_EDITS = 200;
/** A shorter text on one line needs no diff. */
const SHORT = 80;
const CONTEXT = 3;

/**
 * A unified diff of two texts when at least one has several lines or is long; null for other values, and when it would
 * be too large. The bounds are counts, not times, so the same texts always give the same diff.
 */
export function textDiff(before: Json, after: Json): string | null {
  if (typeof before !== "string" || typeof after !== "string") return null;
  if (!isLong(before) && !isLong(after)) return null;
  if (before.length > MAX_TEXT_LENGTH || after.length > MAX_TEXT_LENGTH) return null;
  return lineDiff(before, after) ?? wholeDiff(before, after);
}

/** A unified diff of a file of the repository, as `git apply` reads it; `before` is empty for a new file. */
export function unifiedDiff(path: string, before: string, after: string): string {
  const old = before === "" ? "/dev/null" : `a/${path}`;
  return `--- ${old}\n+++ b/${path}\n${lineDiff(before, after) ?? wholeDiff(before, after)}`;
}

function isLong(text: string): boolean {
  return text.length > SHORT || text.includes("\n");
}

function lineDiff(before: string, after: string): string | null {
  if (leastEdits(before, after) > MAX_EDITS) return null;
  const patch = structuredPatch("", "", before, after, "", "", { context: CONTEXT, maxEditLength: MAX_EDITS });
  if (patch === undefined) return null;
  const hunks = patch.hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) =>
    [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...lines].join("\n"),
  );
  return `${hunks.join("\n")}\n`;
}

// A lower bound in one pass, before the search: each line that only one side has costs an edit.
function leastEdits(before: string, after: string): number {
  const counts = new Map<string, number>();
  for (const line of before.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  for (const line of after.split("\n")) counts.set(line, (counts.get(line) ?? 0) - 1);
  return counts.values().reduce((sum, count) => sum + Math.abs(count), 0);
}

/** One hunk with everything between the common leading and trailing lines. */
function wholeDiff(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const most = Math.min(old.length, now.length);
  let start = 0;
  while (start < most && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < most - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const first = Math.max(0, start - CONTEXT);
  const last = Math.max(0, end - CONTEXT);
  const removed = old.slice(start, old.length - end);
  const added = now.slice(start, now.length - end);
  const lines = [
    ...old.slice(first, start).map((line) => ` ${line}`),
    ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`),
    ...old.slice(old.length - end, old.length - last).map((line) => ` ${line}`),
  ];
  const span = (all: readonly string[]): string => `${first + 1},${all.length - last - first}`;
  return [`@@ -${span(old)} +${span(now)} @@`, ...lines, ""].join("\n");
}

const NO_NEWLINE = "\n\\ No newline at end of file";

// As in any unified diff, the last line is marked when no line feed ends it.
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (text.endsWith("\n")) return lines.slice(0, -1);
  return lines.with(-1, `${lines.at(-1)}${NO_NEWLINE}`);
}
