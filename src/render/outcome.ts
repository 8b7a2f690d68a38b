import { stripVTControlCharacters } from "node:util";
import type { Step } from "../core/plan/plan.ts";
import { hasBadRollout, type Outcome, type OutcomeResult } from "../core/report/report.ts";
import { changeSummary } from "./change.ts";
import { contentFields } from "./created-content.ts";
import { printable } from "./escape.ts";
import { packIntoLines } from "./pack-into-lines.ts";
import type { Paint, Style } from "./paint.ts";
import { columnsOf, cutEnd, cutMiddle } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

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

/** The outcome of one resource with its changed fields, on one line if they fit. */
export function outcomeLines(outcome: Outcome, view: OutcomeView): readonly string[] {
  const { paint, width } = view;
  const heads = outcomeHead(outcome, view);
  const head = heads.at(-1) ?? "";
  const step = view.stepOf(outcome);
  const room = width - columnsOf(stripVTControlCharacters(head)) - 2;
  const isCreate = step?.action === "create" && step.changes[0]?.path === "";
  const fields = isCreate ? createdFields(step, room) : (step?.changes.map(changeSummary) ?? []);
  const line = fields.join(" · ");
  if (line === "") return heads;
  if (columnsOf(line) <= room || isCreate) {
    return [...heads.slice(0, -1), `${head}  ${paint("dim", cutEnd(line, room))}`];
  }
  const rest = (left: number): string => `… and ${left} more ${left === 1 ? "field" : "fields"}`;
  const lines = packIntoLines(fields, { columns: width - INDENT.length, mostLines: MAX_LINES, rest });
  return [...heads, ...lines.map((one) => INDENT + paint("dim", one))];
}

// A line has room for only two or three of a create's fields.
function createdFields({ changes: [content], identity }: Step, room: number): readonly string[] {
  const taken: string[] = [];
  if (content === undefined || room < MIN_COLUMNS) return taken;
  let columns = 0;
  for (const field of contentFields(content.after, identity)) {
    taken.push(field);
    columns += columnsOf(field);
    if (columns > room) break;
  }
  return taken;
}

/** A resource's result and name, then the result of its rollout and its relation to an interrupted run. */
export function outcomeHead(
  outcome: Outcome,
  { paint, width }: Pick<OutcomeView, "paint" | "width">,
): readonly string[] {
  const { result, identity, rollout, interrupted } = outcome;
  const style = needsAttention(outcome) && result !== "skipped" ? "red" : styles[result];
  const name = cutMiddle(printable(identity), width - INDENT.length);
  const head = `  ${paint(style, result.padEnd(9))} ${name}`;
  const notes = [
    rollout === null ? "" : `rollout ${rollout}`,
    interrupted === undefined ? "" : interruptedText[interrupted],
  ]
    .filter((note) => note !== "")
    .join("  ");
  if (notes === "") return [head];
  const fits = INDENT.length + columnsOf(name) + 2 + columnsOf(notes) <= width;
  return fits ? [`${head}  ${notes}`] : [head, ...wrapWords(notes, { indent: INDENT, width })];
}
