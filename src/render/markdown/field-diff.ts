import { isObject, type Json } from "../../contract/json.ts";
import { textDiff } from "../../core/diff/text-diff.ts";
import type { Change, Step } from "../../core/plan/plan.ts";
import { patchPlace } from "../change.ts";
import { type GrantChange, grantsIn, splitGrants } from "../grants.ts";
import { showSides, showValue } from "../show-value.ts";
import { distinctLines } from "../text-diff.ts";
import { cutEnd } from "../text-width.ts";

/** Maximum lines shown per resource; the rest is counted. */
const MAX_LINES = 120;
/** Maximum characters shown per line. */
const MAX_LINE_LENGTH = 400;

/** The differences of a resource as diff lines: each field under its name, as `@@ replicas (drift) @@`, with its patch. */
export function fieldDiff(changes: Step["changes"], file?: Step["file"]): readonly string[] {
  const { grants, others } = splitGrants(changes);
  const all = [...grantLines(grants), ...others.flatMap((change) => linesOf(change, patchPlace(change, file)))];
  const lines = distinctLines(all, MAX_LINE_LENGTH).map((line) => cutEnd(line, MAX_LINE_LENGTH));
  const shown = lines.slice(0, MAX_LINES);
  const rest = lines.length - shown.length;
  return rest === 0 ? shown : [...shown, `… and ${rest} more lines`];
}

// Who may do what comes first, so that it is never among the lines that do not fit.
function grantLines(grants: readonly GrantChange[]): readonly string[] {
  const byCause = [...Map.groupBy(grants, ({ cause }) => cause)];
  return byCause.flatMap(([cause, alike]) => [
    `@@ grants (${cause}) @@`,
    ...alike.map(({ sign, text }) => `${sign} ${text}`),
  ]);
}

function linesOf({ path, label, before, after, cause, diff }: Change, patch: string | null): readonly string[] {
  if (path === "" && before === null) {
    const { grants, rest } = grantsIn(after);
    return [...grants, ...valueLines(rest, "")].map((line) => `+ ${line}`);
  }
  const head = `@@ ${label === "" ? "(everything)" : label} (${cause}${patch === null ? "" : `, ${patch}`}) @@`;
  if (before === null || after === null) return [head, ...sideLines("-", before), ...sideLines("+", after)];
  // Of two long lists only the lines around a difference are shown.
  const lines = diff ?? (typeof before === "object" && typeof after === "object" ? jsonDiff(before, after) : null);
  if (lines !== null) return [head, ...lines.split("\n").filter((line) => line !== "")];
  const [was, is] = showSides(before, after);
  return [head, `- ${was}`, `+ ${is}`];
}

// Without commas at the ends of lines: a line does not differ because another one follows it.
function jsonDiff(...sides: readonly [Json, Json]): string | null {
  const [before, after] = sides.map((side) => `${JSON.stringify(side, null, 2).replace(/,$/gm, "")}\n`);
  return textDiff(before ?? "", after ?? "");
}

function sideLines(sign: string, value: Json): readonly string[] {
  return value === null ? [] : valueLines(value, "").map((line) => `${sign} ${line}`);
}

function valueLines(value: Json, label: string): readonly string[] {
  const inner = Array.isArray(value)
    ? value.flatMap((item, index) => valueLines(item, `${label}[${index}]`))
    : isObject(value)
      ? Object.entries(value).flatMap(([name, field]) => valueLines(field, label === "" ? name : `${label}.${name}`))
      : [];
  if (inner.length > 0) return inner;
  const text = showValue(value);
  return [label === "" ? text : `${label}: ${text}`];
}
