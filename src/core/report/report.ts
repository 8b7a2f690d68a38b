// src/core/report: the events and results of a pass, and the one judgement of it. See docs/architecture.md#a-pass.

import type { ApplyReport, Outcome, OutcomeResult, RolloutResult } from "../../contract/generated/output.ts";
import type { InvalidManifest } from "../invalid-manifest.ts";

export type {
  ApplyReport,
  AuditReport,
  AuditVerificationReport,
  DriftEntry,
  DriftReport,
  ListedToken,
  OpenWrite,
  Outcome,
  OutcomeError,
  OutcomeResult,
  RecordsReport,
  ResolveReport,
  RolloutResult,
  RunsReport,
  ShownRun,
  TokenOrigin,
  TokensReport,
  UnlockReport,
  ValidationReport,
  WhoamiReport,
  WhyReport,
} from "../../contract/generated/output.ts";

/** Counts outcomes by result. */
export function summariseOutcomes(outcomes: readonly Outcome[]): ApplyReport["summary"] {
  const count = { created: 0, updated: 0, unchanged: 0, skipped: 0, blocked: 0, failed: 0, unknown: 0, invalid: 0 };
  for (const { result } of outcomes) count[result] += 1;
  return count;
}

const SUCCESSES: readonly string[] = ["created", "updated", "unchanged"] satisfies readonly OutcomeResult[];

/** Whether a result or state means that the resource is as declared. */
export function isSuccess(result: string): boolean {
  return SUCCESSES.includes(result);
}

/** The outcome of an invalid manifest: nothing was sent, and what was written last stays in force. */
export function invalidOutcome(
  { identity, kind, file, line, code, message }: InvalidManifest,
  lastGood: Outcome["lastGood"] = null,
): Outcome {
  const error = { code, message };
  return { identity, kind, result: "invalid", file, line, rollout: null, error, attempts: 0, lastGood };
}

/** Whether the rollout of a write failed or timed out. */
export function hasBadRollout({ rollout }: { readonly rollout?: RolloutResult | undefined }): boolean {
  return rollout === "failed" || rollout === "timeout";
}

/** Whether nothing is left to do for a resource: it is as declared, and its rollout has not failed. */
export function isSettled(status: { readonly state: string; readonly rollout: RolloutResult }): boolean {
  return isSuccess(status.state) && !hasBadRollout(status);
}
