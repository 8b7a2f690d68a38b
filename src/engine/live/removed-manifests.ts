import type { Identity } from "../../core/manifest.ts";
import type { PlanInput } from "../../core/plan/plan-input.ts";
import type { RemovedManifests } from "../../manifests/declared-history.ts";
import type { Desired } from "../desired/desired.ts";

/** What the history has declared and the source no longer does; null reach where it was not read. */
export type RemovedFromSource = Pick<RemovedManifests, "removed"> & {
  readonly reach: RemovedManifests["reach"] | null;
};

const NONE: RemovedFromSource = { removed: new Map(), reach: null };

/** Which orphans a plan shows. A part of the source that is reconciled by itself has none. */
export function orphansIn(
  { isWhole, outOfScope }: Desired,
  { seeksOrphans = true }: { readonly seeksOrphans?: boolean },
): PlanInput["orphans"] {
  if (!seeksOrphans || outOfScope !== undefined) return "none";
  return isWhole ? "listed" : "counted";
}

/** Reads from the history what the source no longer declares, where no ledger knows it. */
export async function removedFromSource(
  { history, declared, base }: Desired,
  recorded: ReadonlyMap<Identity, unknown>,
  { orphans, stopping: signal }: Pick<PlanInput, "orphans"> & { readonly stopping: AbortSignal },
): Promise<RemovedFromSource> {
  if (orphans === "none" || recorded.size > 0) return NONE;
  const line = await history?.declared();
  // What the base still declares is removed by this change, not by a commit of its line.
  const kept = base === null ? declared : new Set([...declared, ...base.keys()]);
  return (await line?.removed(kept, { signal })) ?? NONE;
}
