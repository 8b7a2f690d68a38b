import { isUnreadable } from "../../core/diagnostic.ts";
import { exitCodes } from "../../core/errors.ts";
import { OTHER_WRITER } from "../../core/guards/other-writer.ts";
import { FROZEN } from "../../core/guards/write-refusal.ts";
import { UNDECLARED } from "../../core/referenced-values.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { applyConclusion } from "../../core/report/pass-result.ts";
import { hasBadRollout } from "../../core/report/report.ts";
import { withWarnings } from "../../core/run-warning.ts";
import { tokenLocationsText } from "../../render/apply.ts";
import { diagnosticsText } from "../../render/diagnostics.ts";
import { applyReport, type ReportView } from "../../render/pass-report.ts";
import type { Invocation } from "../command.ts";
import type { TerminalView } from "../output/terminal-view.ts";
import { writeResult } from "../terminal.ts";

/** Shows the outcome of an applied plan, and returns the exit code. */
export async function showApplyResult(
  end: ApplyEvent,
  { terminal }: Invocation,
  view: TerminalView & ReportView,
): Promise<number> {
  const unread = end.plan.diagnostics.filter((one) => isUnreadable(one) || one.code === UNDECLARED);
  terminal.stderr.write(
    tokenLocationsText(end.tokens, view.diagnosticView.width) + diagnosticsText(unread, view.diagnosticView),
  );
  const diagnostics = withWarnings(end.report.diagnostics, terminal.warnings.all());
  await writeResult(terminal, applyReport({ ...end, report: { ...end.report, diagnostics } }, view));
  // The report comes first; the interruption then sets the exit code.
  terminal.stopping.throwIfAborted();
  return applyExitCode(end);
}

/** 0 if the apply succeeded, 1 if nothing did, 3 if no manifest is valid, 5 if a freeze left all out, 7 if only a part did, 8 if another writer took over. */
export function applyExitCode(end: ApplyEvent): number {
  if (applyConclusion(end).result === "applied") return 0;
  const { outcomes: all, summary } = end.report;
  const outcomes = all.filter(({ result }) => result !== "invalid");
  if (summary.invalid > 0 && declaredIn(summary) === summary.invalid) return exitCodes.invalid;
  if (
    outcomes.some(({ error }) => error?.status === 401 || error?.status === 403) &&
    summary.created + summary.updated === 0
  ) {
    return exitCodes.unauthorized;
  }
  if (outcomes.some(({ error }) => error?.status === 412 || error?.code === OTHER_WRITER)) return exitCodes.locked;
  const isFrozen = outcomes.some(({ error }) => error?.code === FROZEN);
  // What an earlier run had made was read back, and not written now.
  const isWritten = outcomes.some(({ result, attempts }) => attempts > 0 && WRITTEN.includes(result));
  if (isFrozen && !isWritten) return exitCodes.refused;
  const badRollouts = outcomes.filter(hasBadRollout).length;
  const bad = summary.failed + summary.blocked + summary.unknown + badRollouts;
  return bad > 0 && bad >= outcomes.length && summary.created + summary.updated === badRollouts
    ? exitCodes.error
    : exitCodes.partial;
}

const WRITTEN: readonly string[] = ["created", "updated"];

function declaredIn(summary: ApplyEvent["report"]["summary"]): number {
  return Object.values(summary).reduce((sum, one) => sum + one, 0);
}
