import { stripVTControlCharacters } from "node:util";
import type { Json } from "../contract/json.ts";
import type { Step } from "../core/plan/plan.ts";
import { placeText } from "../core/report/invalid-text.ts";
import { hasBadRollout, type Outcome, type OutcomeResult } from "../core/report/report.ts";
import { changeSummary } from "./change.ts";
import { contentFields } from "./created-content.ts";
import { printable } from "./escape.ts";
import { grantLines, grantsIn, splitGrants } from "./grants.ts";
import type { Paint, Style } from "./paint.ts";
import { startedRunNote } from "./runs.ts";
import { columnsOf, cutEnd, cutMiddle } from "./text-width.ts";
import { packIntoLines, wrapWords } from "./wrap.ts";

/** Layout of an outcome. */
export type OutcomeView = {
  readonly paint: Paint;
  readonly width: number;
  /** The planned step; undefined for a write of an earlier run. */
  readonly stepOf: (outcome: Outcome) => Step | undefined;
};

const INDENT = " ".repeat(12);
const MAX_LINES = 3;
/** With fewer columns, a create's fields are not shown. */
const MIN_COLUMNS = 20;

const styles: { readonly [result in OutcomeResult]: Style } = {
  created: "green",
  updated: "yellow",
  unchanged: "dim",
  skipped: "dim",
  blocked: "red",
  failed: "red",
  unknown: "magenta",
  invalid: "red",
};

const interruptedText: { readonly [found in NonNullable<Outcome["interrupted"]>]: string } = {
  made: "by an earlier run that was interrupted",
  "not-made": "not made by an earlier run that was interrupted",
  unknown: "left by an earlier run that was interrupted",
};

/** Whether an outcome requires an action of the user. */
export function needsAttention(outcome: Outcome): boolean {
  return outcome.error !== null || hasBadRollout(outcome);
}

/** The outcome of one resource with its changed fields, on one line if they fit; each grant has a line of its own. */
export function outcomeLines(outcome: Outcome, view: OutcomeView): readonly string[] {
  const heads = outcomeHead(outcome, view);
  const step = view.stepOf(outcome);
  if (step === undefined) return heads;
  const [content] = step.changes;
  if (step.action === "create" && content?.path === "") {
    const { grants, rest } = grantsIn(content.after);
    const roles = grants.flatMap((text) => grantLines("+", text, { ...view, indent: INDENT }));
    return [...withCreatedFields(heads, rest, { identity: step.identity, ...view }), ...roles];
  }
  const { grants, others } = splitGrants(step.changes);
  const roles = grants.flatMap(({ sign, text }) => grantLines(sign, text, { ...view, indent: INDENT }));
  return [...withChangedFields(heads, others.map(changeSummary), view), ...roles];
}

// The fields stand behind the last line of the head if they fit there, and below it otherwise.
function withChangedFields(
  heads: readonly string[],
  fields: readonly string[],
  { paint, width }: OutcomeView,
): readonly string[] {
  const line = fields.join(" · ");
  if (line === "") return heads;
  if (columnsOf(line) <= roomBehind(heads, width)) return withBehind(heads, paint("dim", line));
  const rest = (left: number): string => `… and ${left} more ${left === 1 ? "field" : "fields"}`;
  const lines = packIntoLines(fields, { columns: width - INDENT.length, mostLines: MAX_LINES, rest });
  return [...heads, ...lines.map((one) => INDENT + paint("dim", one))];
}

function roomBehind(heads: readonly string[], width: number): number {
  return width - columnsOf(stripVTControlCharacters(heads.at(-1) ?? "")) - 2;
}

function withBehind(heads: readonly string[], text: string): readonly string[] {
  return [...heads.slice(0, -1), `${heads.at(-1) ?? ""}  ${text}`];
}

// A line has room for only two or three of a create's fields.
function withCreatedFields(
  heads: readonly string[],
  content: Json,
  { identity, paint, width }: OutcomeView & { readonly identity: string },
): readonly string[] {
  const room = roomBehind(heads, width);
  if (room < MIN_COLUMNS) return heads;
  const taken: string[] = [];
  let columns = 0;
  for (const field of contentFields(content, identity)) {
    taken.push(field);
    columns += columnsOf(field);
    if (columns > room) break;
  }
  return taken.length === 0 ? heads : withBehind(heads, paint("dim", cutEnd(taken.join(" · "), room)));
}

/** How a rollout ended, with the status that a superseded one had. */
export function rolloutEndText({ rollout, rolloutStatus }: Pick<Outcome, "rollout" | "rolloutStatus">): string {
  return `rollout ${rollout}${rolloutStatus === undefined ? "" : ` at ${rolloutStatus}`}`;
}

/** A resource's result and name, then the result of its rollout and its relation to an interrupted run. */
export function outcomeHead(outcome: Outcome, { paint, width }: OutcomeView): readonly string[] {
  const { result, identity, rollout, run, interrupted } = outcome;
  const style = needsAttention(outcome) && result !== "skipped" ? "red" : styles[result];
  const name = cutMiddle(printable(identity === "" ? placeText(outcome) : identity), width - INDENT.length);
  const head = `  ${paint(style, result.padEnd(9))} ${name}`;
  const notes = [
    // A run begins when the rollout has succeeded, and its end is theirs.
    run === undefined ? "" : startedRunNote(run),
    rollout === null || (run !== undefined && rollout !== "timeout") ? "" : rolloutEndText(outcome),
    interrupted === undefined ? "" : interruptedText[interrupted],
  ]
    .filter((note) => note !== "")
    .join("  ");
  if (notes === "") return [head];
  const fits = INDENT.length + columnsOf(name) + 2 + columnsOf(notes) <= width;
  return fits ? [`${head}  ${notes}`] : [head, ...wrapWords(notes, { indent: INDENT, width })];
}
