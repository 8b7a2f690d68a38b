import type { Identity } from "../../core/manifest.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { isSettled, type RolloutResult } from "../../core/report/report.ts";
import type { ResourceStatus } from "../../core/report/target-status.ts";
import type { PassObserver } from "../pass-observer.ts";
import { appliedStates, invalidStates, plannedStates } from "../resource-statuses.ts";

/** The state of each target's resources after its last pass. */
export type ResourceStates = {
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  readonly of: (target: string) => SeenResources;
};

/** What passes of this process have found of the resources of a target. */
export type SeenResources = {
  /** Those that need attention first. */
  readonly statuses: readonly ResourceStatus[];
  /** Whether these are all of them, and not only those that are not as declared. */
  readonly isWhole: boolean;
};

/** About 200 bytes each. */
const MOST_RESOURCES = 50_000;

type Found = (ended: ReadonlyMap<Identity, RolloutResult>) => readonly ResourceStatus[];

/** What is kept of a target. */
type Kept = {
  /** What the last whole pass found, given the rollouts that have ended since. */
  found: Found;
  rollouts: Map<Identity, RolloutResult>;
  /** What passes over a part have found since. */
  later: Map<Identity, ResourceStatus>;
  /** Every pass reports all of them, also one over a part of the source. */
  invalid: readonly ResourceStatus[];
  size: number;
  isWhole: boolean;
};

/**
 * Keeps the end of each target's last pass; the states are computed when they are read. Of targets whose last passes were
 * longest ago, only what is not as declared is kept where all together have more than so many resources.
 */
export function createResourceStates(most: number = MOST_RESOURCES): ResourceStates {
  const targets = new Map<string, Kept>();
  const shortenBefore = (last: string): void => {
    let sum = targets.values().reduce((total, { size }) => total + size, 0);
    for (const [target, kept] of targets) {
      if (sum <= most || target === last) return;
      if (!kept.isWhole) continue;
      sum -= kept.size;
      shorten(kept);
      sum += kept.size;
    }
  };
  return {
    of: (target) => {
      const kept = targets.get(target);
      if (kept === undefined) return { statuses: [], isWhole: true };
      const { found, rollouts, later, invalid, isWhole } = kept;
      return { statuses: invalidFirst(invalid, troubledFirst(withLater(found(rollouts), later))), isWhole };
    },
    keep: (names) => {
      for (const target of targets.keys()) if (!names.includes(target)) targets.delete(target);
    },
    observe: (target) => {
      const keepWhole = (found: Found, size: number): void => {
        // At the end of the order.
        targets.delete(target);
        targets.set(target, { ...nothingKept(), found, size });
        shortenBefore(target);
      };
      const known = (): Kept => {
        const kept = targets.get(target) ?? nothingKept();
        targets.set(target, kept);
        return kept;
      };
      // A partial pass leaves the states of the other resources as they were.
      const keepPart = (event: ApplyEvent): void => {
        const { rollouts, later } = known();
        for (const one of appliedStates(event)(new Map())) {
          rollouts.delete(one.identity);
          later.set(one.identity, one);
        }
      };
      return {
        emit: (event) => {
          // The pass of another process has found what is told now.
          if (event.what === "unchanged" && !event.isOwn) targets.delete(target);
          if (event.what === "applied" && event.isPart) keepPart(event);
          else if (event.what === "applied") keepWhole(appliedStates(event), event.report.outcomes.length);
          if (event.what === "planned") keepWhole(plannedStates(event), event.plan.steps.length);
          if (event.what === "applied" || event.what === "planned") known().invalid = invalidStates(event);
          if (event.what === "rolled-out") noteRollout(known(), event);
        },
        failure: () => {},
      };
    },
  };
}

function nothingKept(): Kept {
  return { found: () => [], rollouts: new Map(), later: new Map(), invalid: [], size: 0, isWhole: true };
}

function noteRollout({ rollouts, later }: Kept, { identity, rollout }: RolledOut): void {
  rollouts.set(identity, rollout);
  const known = later.get(identity);
  if (known !== undefined) later.set(identity, { ...known, rollout });
}

type RolledOut = { readonly identity: Identity; readonly rollout: RolloutResult };

// The state has all of them, and says no more of those that are as declared.
function shorten(kept: Kept): void {
  const left = withLater(kept.found(kept.rollouts), kept.later).filter(
    (status) => isTroubled(status) || status.rollout === "progressing",
  );
  kept.found = (ended) => left.map((one) => ({ ...one, rollout: ended.get(one.identity) ?? one.rollout }));
  Object.assign(kept, { rollouts: new Map(), later: new Map(), size: left.length, isWhole: false });
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
export function isTroubled(status: ResourceStatus): boolean {
  return !isSettled(status) || status.hasDrifted;
}
