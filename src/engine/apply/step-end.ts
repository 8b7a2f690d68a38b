import type { Decision } from "../../core/decide/decision.ts";
import type { LiveRow } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { type Reason, reasonText, type Step } from "../../core/plan/plan.ts";
import { DRIFT_HELD } from "../../core/report/pass-result.ts";
import type { Outcome, OutcomeError } from "../../core/report/report.ts";
import type { WriteResult } from "./write-job.ts";

const rolloutInProgress: OutcomeError = {
  code: "rollout-in-progress",
  message: "not sent: its earlier rollout is in progress, and a newer revision is due; the next pass sends it",
};

const notCompared: OutcomeError = { code: "not-compared", message: reasonText["not-compared"] };

/** Why a step was not started although no dependency failed. */
export const NOT_STARTED: OutcomeError = { code: "stopped", message: "not sent: its dependencies have not ended" };

/** A finished step: its outcome, and the location of its one-time token. */
export type StepEnd = { readonly outcome: Outcome; readonly token: string | null };

/** Determines from the reply of a write whether a resource that cannot be read existed before. */
export type ExistedBefore = (row: LiveRow) => boolean;

/** The end of a step that was written. */
export function writtenEnd(
  step: Step,
  written: WriteResult,
  { existedBefore, stop }: { readonly existedBefore: ExistedBefore; readonly stop: OutcomeError | null },
): StepEnd {
  const attempts = written.state === "kept" ? 0 : written.attempts;
  switch (written.state) {
    case "done":
      return {
        outcome: outcomeOf(
          step,
          isNew(step, written.row, existedBefore) ? "created" : "updated",
          written.notice,
          attempts,
        ),
        token: written.delivered,
      };
    case "kept":
      return { outcome: outcomeOf(step, "unchanged", written.isCompared === false ? notCompared : null), token: null };
    case "deferred":
      return { outcome: outcomeOf(step, "skipped", stop ?? rolloutInProgress, attempts), token: null };
    case "blocked":
      return {
        outcome: outcomeOf(step, "blocked", { code: written.reason, message: reasonText[written.reason] }, attempts),
        token: null,
      };
    case "failed":
    case "unknown":
      return { outcome: outcomeOf(step, written.state, written.error, attempts), token: null };
  }
}

function isNew({ action }: Step, row: LiveRow, existedBefore: ExistedBefore): boolean {
  return action === "create" || (action === "ensure" && !existedBefore(row));
}

/** The end of a step that needed no request. */
export function unwrittenEnd(step: Step, decision: Decision | undefined): StepEnd {
  if (step.action === "block" && step.reason !== null) {
    const message = blockedText(step.reason, decision?.detail ?? null);
    const place = decision?.pointer == null ? {} : { pointer: decision.pointer };
    const code = decision?.keepsLive === true ? DRIFT_HELD : step.reason;
    return { outcome: outcomeOf(step, "blocked", { code, message, ...place }), token: null };
  }
  if (step.action === "keep") {
    const error = step.reason === "not-compared" ? notCompared : null;
    return { outcome: outcomeOf(step, "unchanged", error), token: null };
  }
  return skippedEnd(step, NOT_STARTED);
}

// The message of the control plane, of a guard, of a gate or of a policy stands alone.
const OWN_WORDS: readonly Reason[] = ["refused", "guard", "gate", "policy"];

function blockedText(reason: Reason, detail: string | null): string {
  if (detail === null) return reasonText[reason];
  return OWN_WORDS.includes(reason) ? detail : `${reasonText[reason]} (${detail})`;
}

/** The end of a step that was not started because the apply was stopped. */
export function skippedEnd(step: Step, stop: OutcomeError): StepEnd {
  return { outcome: outcomeOf(step, "skipped", stop), token: null };
}

/** The end of a step whose dependency failed. */
export function dependencyEnd(step: Step, by: Identity): StepEnd {
  const message = `it waits for ${by}, which was not written`;
  return { outcome: outcomeOf(step, "blocked", { code: "dependency", message }), token: null };
}

function outcomeOf(
  { identity, kind, file }: Step,
  result: Outcome["result"],
  error: OutcomeError | null = null,
  attempts = 0,
): Outcome {
  return { identity, kind, result, file, rollout: null, error, attempts };
}
