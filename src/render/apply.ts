import type { HistoryReach } from "../contract/generated/output.ts";
import type { MissingExtension } from "../core/missing-extensions.ts";
import { isWhole } from "../core/report/pass-result.ts";
import type { ApplyReport, Outcome } from "../core/report/report.ts";
import { joinCounts } from "./count-text.ts";
import { type FailedOutcomesView, failedOutcomeLines } from "./failed-outcomes.ts";
import { missingExtensionsText } from "./missing-extensions.ts";
import { orphanLines, orphanNotes, type ShownOrphan } from "./orphans.ts";
import { needsAttention, outcomeLines } from "./outcome.ts";
import { wrapWords } from "./wrap.ts";

/** Layout of an apply's report. */
export type ApplyView = FailedOutcomesView & {
  /** Rows of the terminal; null when the output is not a terminal. */
  readonly rows: number | null;
  /** Resources that the source no longer declares. @default none */
  readonly orphans?: readonly ShownOrphan[];
  /** The number of orphans that a selection leaves out. @default 0 */
  readonly counted?: number;
  /** How far back the history was read for orphans; left out when the ledger knows them. */
  readonly history?: HistoryReach | undefined;
  /** Whether an outcome was shown when it happened. */
  readonly wasShown: (outcome: Outcome) => boolean;
};

/** `Applied: 2 created, 1 updated, 40 unchanged`, or `Incomplete: …` if not everything is as declared. */
export function applyLine(report: ApplyReport): string {
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
export function applyLines({ outcomes }: ApplyReport, view: ApplyView): readonly string[] {
  const [bad, well] = [outcomes.filter(needsAttention), outcomes.filter((outcome) => !needsAttention(outcome))];
  const listed = well.filter((outcome) => outcome.result !== "unchanged" && !view.wasShown(outcome));
  return [...listed.flatMap((outcome) => outcomeLines(outcome, view)), ...failedOutcomeLines(bad, view)];
}

/** An apply's text report: the outcomes and a summary, or one line when nothing changed. */
export function applyText(report: ApplyReport, view: ApplyView, notUsed: readonly MissingExtension[] = []): string {
  const { paint, width, rows } = view;
  const summary = applyLine(report);
  const { orphans: listed = [], counted = 0, history } = view;
  const orphans = [...orphanLines(listed, view), ...orphanNotes({ counted, history }, view)];
  if (report.outcomes.every(({ result }) => result === "unchanged")) return [...orphans, summary, ""].join("\n");
  const lines = applyLines(report, view);
  const end = wrapWords(summary, { indent: "", width }).map((line) => paint("bold", line));
  const isLong = rows !== null && lines.length > rows;
  const top = isLong ? [...end, ""] : [];
  const left = orphans.length === 0 ? [] : [...orphans, ""];
  return [...top, ...lines, "", ...left, ...missingExtensionsText(notUsed, view), ...end, ""].join("\n");
}
