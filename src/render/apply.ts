import type { NotUsed } from "../core/not-used.ts";
import type { ApplyReport, Outcome, OutcomeResult } from "../core/report.ts";
import { joinCounts } from "./count.ts";
import { printable } from "./escape.ts";
import { notUsedText } from "./not-used.ts";
import type { Paint, Style } from "./paint.ts";

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

/** The position of an outcome's manifest (`file:line:column`), as exact as its error allows; null when unknown. */
export type PlaceOf = (outcome: Outcome) => string | null;

/** One resource's outcome in a line, with the reason and the place where it did not go well. */
export function outcomeText(outcome: Outcome, paint: Paint, placeOf: PlaceOf): string {
  const { identity, result, rollout, error, interrupted } = outcome;
  const shown = rollout === null ? "" : `  rollout ${rollout}`;
  const earlier = interrupted === undefined ? "" : `  ${interruptedText[interrupted]}`;
  const head = `${paint(styles[result], result.padEnd(9))} ${printable(identity)}${shown}${earlier}`;
  if (error === null) return head;
  const place = placeOf(outcome);
  const where = place === null ? "" : `\n            ${paint("dim", `at ${printable(place)}`)}`;
  return `${head}\n            ${printable(error.message)} ${paint("dim", `[${printable(error.code)}]`)}${where}`;
}

/** `Applied: 2 created, 1 updated, 40 unchanged`. */
export function applyLine({ summary }: Pick<ApplyReport, "summary">): string {
  const { created, updated, unchanged, skipped, blocked, failed, unknown } = summary;
  const text = joinCounts([
    [created, "created"],
    [updated, "updated"],
    [failed, "failed"],
    [unknown, "unknown"],
    [blocked, "blocked"],
    [skipped, "skipped"],
    [unchanged, "unchanged"],
  ]);
  return `Applied: ${text === "" ? "nothing is declared" : text}`;
}

/** An apply's report for people: every outcome but the unchanged ones, between two summaries; one line when all is well. */
export function applyText(
  report: ApplyReport,
  paint: Paint,
  placeOf: PlaceOf,
  notUsed: readonly NotUsed[] = [],
): string {
  const line = applyLine(report);
  const shown = report.outcomes.filter(({ result }) => result !== "unchanged");
  if (shown.length === 0) return `${line}\n`;
  return [
    paint("bold", line),
    "",
    ...shown.map((outcome) => `  ${outcomeText(outcome, paint, placeOf)}`),
    "",
    ...notUsedText(notUsed, paint),
    paint("bold", line),
    "",
  ].join("\n");
}
