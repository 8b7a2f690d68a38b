import type { Identity } from "../core/manifest.ts";
import { type Action, isDrifted, reasonText, type Step } from "../core/plan/plan.ts";
import { redactFailureMessage } from "../core/redact/redact-message.ts";
import type { ApplyEvent, PlanEvent } from "../core/report/events.ts";
import { placeText } from "../core/report/invalid-text.ts";
import type { Outcome, RolloutResult } from "../core/report/report.ts";
import type { ResourceState, ResourceStatus } from "../core/report/target-status.ts";
import type { ResourcesSeen } from "../state/resource-events.ts";
import type { PassSeen } from "./ended-pass.ts";
import { writtenChanges } from "./written-changes.ts";

/** What a pass found of resources, given the rollouts that ended since; null if it compared nothing with live. */
export function resourcesSeen(
  { applied, planned }: PassSeen,
  endedAt: number,
  rollouts: ReadonlyMap<Identity, RolloutResult> = new Map(),
): ResourcesSeen | null {
  const at = new Date(endedAt).toISOString();
  if (applied !== null) {
    const statuses = [...invalidStates(applied), ...appliedStates(applied)(rollouts)];
    const { revision } = applied.report;
    const isWhole = !applied.isPart && applied.plan.complete;
    return { at, commit: revision, isWhole, statuses, changed: writtenChanges(applied) };
  }
  if (planned === null) return null;
  const statuses = [...invalidStates(planned), ...plannedStates(planned)()];
  return { at, commit: planned.plan.revision, isWhole: planned.plan.complete, statuses };
}

/** The statuses of the invalid manifests of a pass; every pass reports all of them, also one over a part of the source. */
export function invalidStates(event: ApplyEvent | PlanEvent): readonly ResourceStatus[] {
  const invalid = event.what === "applied" ? event.report.outcomes.filter(isInvalid) : (event.invalid ?? []);
  return invalid.map(invalidState);
}

function isInvalid({ result }: Outcome): boolean {
  return result === "invalid";
}

function invalidState(outcome: Outcome): ResourceStatus {
  const place = placeText(outcome);
  const { identity, error } = outcome;
  const why = redactFailureMessage(`${place}: ${error?.message ?? ""}`).slice(0, MAX_WHY);
  return { identity: identity === "" ? place : identity, state: "invalid", rollout: null, hasDrifted: false, why };
}

/** The statuses of the resources of an apply, given the rollouts that ended after it. They do not hold its manifests. */
export function appliedStates({ report: { outcomes }, plan }: ApplyEvent) {
  const written = outcomes.filter((outcome) => !isInvalid(outcome));
  const drifted = new Map(plan.steps.filter(isDrifted).map((step) => [step.identity, writerOf(step)]));
  return (ended: ReadonlyMap<Identity, RolloutResult>): readonly ResourceStatus[] =>
    written.map(({ identity, result, rollout, rolloutStatus, error }) => ({
      identity,
      state: result,
      rollout: ended.get(identity) ?? rollout,
      ...(rolloutStatus !== undefined && { rolloutStatus }),
      hasDrifted: drifted.has(identity),
      why: error === null ? null : redactFailureMessage(error.message).slice(0, MAX_WHY),
      ...drifted.get(identity),
    }));
}

function writerOf({ changedBy }: Step): Pick<ResourceStatus, "changedBy"> {
  return changedBy === undefined ? {} : { changedBy };
}

const MAX_WHY = 500;

/** The statuses of the resources of a plan. They do not hold its manifests. */
export function plannedStates({ plan: { steps }, details }: PlanEvent) {
  const states = steps.map((step) => ({
    identity: step.identity,
    state: stateAfter[step.action],
    rollout: null,
    hasDrifted: isDrifted(step),
    why: whyOf(step, details),
    ...(isDrifted(step) ? writerOf(step) : {}),
  }));
  return () => states;
}

const stateAfter: { readonly [action in Action]: ResourceState } = {
  create: "to-create",
  update: "to-update",
  keep: "unchanged",
  ensure: "to-ensure",
  block: "blocked",
  orphan: "orphan",
};

function whyOf({ identity, reason }: Step, details: PlanEvent["details"]): string | null {
  const why = details.get(identity) ?? (reason === null ? null : reasonText[reason]);
  return why?.slice(0, MAX_WHY) ?? null;
}
