import type { ApplyReport, Outcome } from "../contract/generated/output.ts";

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
} from "../contract/generated/output.ts";

/** Counts outcomes by result. */
export function summariseOutcomes(outcomes: readonly Outcome[]): ApplyReport["summary"] {
  const count = { created: 0, updated: 0, unchanged: 0, skipped: 0, blocked: 0, failed: 0, unknown: 0 };
  for (const { result } of outcomes) count[result] += 1;
  return count;
}
