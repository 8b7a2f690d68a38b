import type { Identity } from "../../core/manifest.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { hasBadRollout, isSuccess, type RolloutResult } from "../../core/report/report.ts";
import type { ResourceStatus } from "../../core/report/target-status.ts";
import type { PassObserver } from "../pass-observer.ts";
import { appliedStates, invalidStates, plannedStates } from "../resource-statuses.ts";

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
          if (event.what === "applied" || event.what === "planned") invalid = invalidStates(event);
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

function troubledFirst(all: readonly ResourceStatus[]): readonly ResourceStatus[] {
  return all.toSorted((a, b) => Number(isTroubled(b)) - Number(isTroubled(a)));
}

/** Whether a resource needs attention: it is not as declared, its rollout failed, or live had drifted. */
export function isTroubled({ state, rollout, hasDrifted }: ResourceStatus): boolean {
  return !isSuccess(state) || hasBadRollout({ rollout }) || hasDrifted;
}
