import type { ApplyReport, Outcome, OutcomeResult } from "../../contract/generated/output.ts";

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

const SUCCESSES: readonly string[] = ["created", "updated", "unchanged"] satisfies readonly OutcomeResult[];

/** Whether a result or state means that the resource is as declared. */
export function isSuccess(result: string): boolean {
  return SUCCESSES.includes(result);
}

/** Whether everything was done: nothing failed, was blocked or skipped, or is unknown, and no rollout failed. */
export function isDone({ summary, outcomes }: Pick<ApplyReport, "summary" | "outcomes">): boolean {
  const { failed, blocked, skipped, unknown } = summary;
  return failed + blocked + skipped + unknown === 0 && !outcomes.some(hasBadRollout);
}

/** Whether the rollout of a write failed or timed out. */
export function hasBadRollout({ rollout }: Pick<Outcome, "rollout">): boolean {
  return rollout === "failed" || rollout === "timeout";
}
