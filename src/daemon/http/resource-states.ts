import type { Identity } from "../../core/manifest.ts";
import { type Action, isDrifted, reasonText, type Step } from "../../core/plan/plan.ts";
import { redactFailureMessage } from "../../core/redact/redact-message.ts";
import type { ApplyEvent, PlanEvent } from "../../core/report/events.ts";
import { placeText } from "../../core/report/invalid-text.ts";
import { hasBadRollout, isSuccess, type Outcome, type RolloutResult } from "../../core/report/report.ts";
import type { ResourceState, ResourceStatus } from "../../core/report/target-status.ts";
import type { PassObserver } from "../pass-observer.ts";

/** The state of each target's resources after its last pass. */
export type ResourceStates = {
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  /** The resources of a target, those that need attention first. */
  readonly of: (target: string) => readonly ResourceStatus[];
};

/** Keeps the end of each target's last pass; the states are computed when they are read. */
export function createResourceStates(): ResourceStates {
  const targets = new Map<string, () => readonly ResourceStatus[]>();
  return {
    of: (target) => targets.get(target)?.() ?? [],
    keep: (names) => {
      for (const target of targets.keys()) if (!names.includes(target)) targets.delete(target);
    },
    observe: (target) => {
      let rollouts = new Map<Identity, RolloutResult>();
      let later = new Map<Identity, ResourceStatus>();
      // Every pass reports all of them, also one over a part of the source.
      let invalid: readonly ResourceStatus[] = [];
      const keep = (states: (ended: ReadonlyMap<Identity, RolloutResult>) => readonly ResourceStatus[]): void => {
        rollouts = new Map();
        later = new Map();
        targets.set(target, () => invalidFirst(invalid, troubledFirst(withLater(states(rollouts), later))));
      };
      // A partial pass leaves the states of the other resources as they were.
      const keepPart = (event: ApplyEvent): void => {
        for (const one of appliedStates(event)(new Map())) {
          rollouts.delete(one.identity);
          later.set(one.identity, one);
        }
      };
      return {
        emit: (event) => {
          if (event.what === "applied") invalid = event.report.outcomes.filter(isInvalid).map(invalidState);
          if (event.what === "planned") invalid = (event.invalid ?? []).map(invalidState);
          if (event.what === "applied" && event.isPart) keepPart(event);
          else if (event.what === "applied") keep(appliedStates(event));
          if (event.what === "planned") keep(plannedStates(event));
          if (event.what !== "rolled-out") return;
          rollouts.set(event.identity, event.rollout);
          const known = later.get(event.identity);
          if (known !== undefined) later.set(event.identity, { ...known, rollout: event.rollout });
        },
        failure: () => {},
      };
    },
  };
}

function withLater(
  states: readonly ResourceStatus[],
  later: ReadonlyMap<Identity, ResourceStatus>,
): readonly ResourceStatus[] {
  if (later.size === 0) return states;
  const known = new Set(states.map(({ identity }) => identity));
  const added = [...later.values()].filter(({ identity }) => !known.has(identity));
  return [...states.map((one) => later.get(one.identity) ?? one), ...added];
}

function invalidFirst(
  invalid: readonly ResourceStatus[],
  others: readonly ResourceStatus[],
): readonly ResourceStatus[] {
  if (invalid.length === 0) return others;
  const named = new Set(invalid.map(({ identity }) => identity));
  return [...invalid, ...others.filter(({ identity }) => !named.has(identity))];
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

// The closure must not hold the plan, which contains all manifests.
function appliedStates({ report: { outcomes }, plan }: ApplyEvent) {
  const written = outcomes.filter((outcome) => !isInvalid(outcome));
  const drifted = new Set(plan.steps.filter(isDrifted).map(({ identity }) => identity));
  return (ended: ReadonlyMap<Identity, RolloutResult>): readonly ResourceStatus[] =>
    written.map(({ identity, result, rollout, error }) => ({
      identity,
      state: result,
      rollout: ended.get(identity) ?? rollout,
      hasDrifted: drifted.has(identity),
      why: error === null ? null : redactFailureMessage(error.message).slice(0, MAX_WHY),
    }));
}

const MAX_WHY = 500;

function plannedStates({ plan: { steps }, details }: PlanEvent) {
  const states = steps.map((step) => ({
    identity: step.identity,
    state: stateAfter[step.action],
    rollout: null,
    hasDrifted: isDrifted(step),
    why: whyOf(step, details),
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

function troubledFirst(all: readonly ResourceStatus[]): readonly ResourceStatus[] {
  return all.toSorted((a, b) => Number(isTroubled(b)) - Number(isTroubled(a)));
}

/** Whether a resource needs attention: it is not as declared, its rollout failed, or live had drifted. */
export function isTroubled({ state, rollout, hasDrifted }: ResourceStatus): boolean {
  return !isSuccess(state) || hasBadRollout({ rollout }) || hasDrifted;
}
