import type { MissingExtension } from "../core/missing-extensions.ts";
import { isWhole } from "../core/report/pass-result.ts";
import type { ApplyReport, Outcome } from "../core/report/report.ts";
import { joinCounts } from "./count-text.ts";
import { type FailedOutcomesView, failedOutcomeLines } from "./failed-outcomes.ts";
import { missingExtensionsText } from "./missing-extensions.ts";
import { needsAttention, outcomeLines } from "./outcome.ts";
import { wrapWords } from "./wrap.ts";

/** Layout of an apply's report. */
export type ApplyView = FailedOutcomesView & {
  /** Rows of the terminal; null when the output is not a terminal. */
  readonly rows: number | null;
  /** Whether an outcome was shown when it happened. */
  readonly wasShown: (outcome: Outcome) => boolean;
};

/** `Applied: 2 created, 1 updated, 40 unchanged`, or `Incomplete: …` if not everything is as declared. */
export function applyLine(report: Pick<ApplyReport, "outcomes" | "summary">): string {
  const { created, updated, unchanged, skipped, blocked, failed, unknown, invalid } = report.summary;
  const text = joinCounts([
    [created, "created"],
    [updated, "updated"],
    [failed, "failed"],
    [unknown, "unknown"],
    [blocked, "blocked"],
    [skipped, "skipped"],
    [invalid, "invalid"],
    [unchanged, "unchanged"],
  ]);
  return `${isWhole(report) ? "Applied" : "Incomplete"}: ${text === "" ? "nothing is declared" : text}`;
}

/**
 * The outcomes of an apply, each resource once with its changed fields, without the unchanged ones; failures are last.
 */
export function applyLines({ outcomes }: Pick<ApplyReport, "outcomes">, view: ApplyView): readonly string[] {
  const [bad, well] = [outcomes.filter(needsAttention), outcomes.filter((outcome) => !needsAttention(outcome))];
  const listed = well.filter((outcome) => outcome.result !== "unchanged" && !view.wasShown(outcome));
  return [...listed.flatMap((outcome) => outcomeLines(outcome, view)), ...failedOutcomeLines(bad, view)];
}

/** An apply's text report: the outcomes and a summary, or one line when nothing changed. */
export function applyText(report: ApplyReport, view: ApplyView, notUsed: readonly MissingExtension[] = []): string {
  const { paint, width, rows } = view;
  const summary = applyLine(report);
  if (report.outcomes.every(({ result }) => result === "unchanged")) return `${summary}\n`;
  const lines = applyLines(report, view);
  const end = wrapWords(summary, { indent: "", width }).map((line) => paint("bold", line));
  const isLong = rows !== null && lines.length > rows;
  const top = isLong ? [...end, ""] : [];
  return [...top, ...lines, "", ...missingExtensionsText(notUsed, view), ...end, ""].join("\n");
}
