import type { ApplyReport, Outcome } from "../../contract/generated/output.ts";

export type {
  ApplyReport,
  DriftEntry,
  DriftReport,
  OpenWrite,
  Outcome,
  OutcomeError,
  OutcomeResult,
  RecordsReport,
  ResolveReport,
  RolloutResult,
  UnlockReport,
  ValidationReport,
  WhyReport,
} from "../../contract/generated/output.ts";

/** Counts outcomes by result. */
export function summariseOutcomes(outcomes: readonly Outcome[]): ApplyReport["summary"] {
  const count = { created: 0, updated: 0, unchanged: 0, skipped: 0, blocked: 0, failed: 0, unknown: 0 };
  for (const { result } of outcomes) count[result] += 1;
  return count;
}

/** Whether everything was done: nothing failed, is blocked, left out or unknown, and no rollout failed. */
export function isDone({ summary, outcomes }: Pick<ApplyReport, "summary" | "outcomes">): boolean {
  const { failed, blocked, skipped, unknown } = summary;
  return failed + blocked + skipped + unknown === 0 && !outcomes.some(hasBadRollout);
}

/** Whether the rollout of a write failed, or took too long. */
export function hasBadRollout({ rollout }: Outcome): boolean {
  return rollout === "failed" || rollout === "timeout";
}
