import type { DriftSpan, WrittenChanges } from "../contract/generated/output.ts";
import type { Identity } from "../core/manifest.ts";
import { isSettled } from "../core/report/report.ts";
import type { ResourceEvent, ResourceStatus } from "../core/report/target-status.ts";

/** What a pass found of resources. */
export type ResourcesSeen = {
  readonly at: ResourceEvent["at"];
  readonly commit: ResourceEvent["commit"];
  /** Whether it looked at every resource, so that what is missing is gone. */
  readonly isWhole: boolean;
  readonly statuses: readonly ResourceStatus[];
  /** What its writes changed; absent without writes. */
  readonly changed?: ReadonlyMap<Identity, WrittenChanges>;
};

/** What a pass changes in the history of resources. */
export type ResourceChanges = {
  /** In the order of the pass. */
  readonly events: readonly ResourceEvent[];
  /** The resources that are not as declared, with their last event. */
  readonly unsettled: readonly ResourceEvent[];
  /** Resources that were not as declared, and are now, or are gone. */
  readonly settled: readonly Identity[];
};

/**
 * The events of a pass, given the resources that were not as declared before it. A resource that stays as it is makes no
 * event, so the cost of storing a pass is that of its changes.
 */
export function resourceChanges(
  before: ReadonlyMap<Identity, ResourceEvent>,
  { at, commit, isWhole, statuses, changed }: ResourcesSeen,
): ResourceChanges {
  const events: ResourceEvent[] = [];
  const unsettled: ResourceEvent[] = [];
  const settled = new Set(isWhole ? before.keys() : []);
  const seen = new Set<Identity>();
  for (const status of statuses) {
    const { identity } = status;
    const earlier = before.get(identity);
    // Each write is one, also where it leaves the resource as it was.
    const isChange = isEvent(status, earlier) || changed?.has(identity) === true;
    // Most resources stay as they are, at little cost.
    if (earlier === undefined && !isChange) continue;
    // A resource that is declared twice is invalid at each place; the first one stands for it.
    if (seen.has(identity)) continue;
    seen.add(identity);
    if (isChange) events.push({ ...status, at, commit });
    if (!isSettled(status)) {
      settled.delete(identity);
      if (earlier === undefined || isOther(status, earlier)) unsettled.push({ ...status, at, commit });
    } else if (earlier !== undefined) settled.add(identity);
  }
  return { events, unsettled, settled: [...settled] };
}

function isEvent(status: ResourceStatus, earlier: ResourceEvent | undefined): boolean {
  if (earlier !== undefined && !isSettled(status)) return isOther(status, earlier);
  return earlier !== undefined || status.state !== "unchanged" || status.hasDrifted || !isSettled(status);
}

function isOther(status: ResourceStatus, { state, rollout, hasDrifted, why }: ResourceEvent): boolean {
  return status.state !== state || status.rollout !== rollout || status.hasDrifted !== hasDrifted || status.why !== why;
}

/** An event where live had drifted, given the next one of the resource: what the pass has overwritten has ended with it. */
export function driftSpan(event: ResourceEvent, next: ResourceEvent | null): DriftSpan {
  return { event, endedAt: isSettled(event) ? event.at : (next?.at ?? null) };
}
