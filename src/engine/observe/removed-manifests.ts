import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { LiveView } from "../../core/live.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PlanInput } from "../../core/plan/plan-input.ts";
import type { Removal } from "../../core/removal.ts";
import type { RemovedEarlier } from "../../core/server-facts.ts";
import type { RemovedManifests } from "../../manifests/declared-history.ts";
import type { Desired } from "../load/desired.ts";

/** What the history has declared and the source no longer does; null reach where it was not read. */
export type RemovedFromSource = {
  readonly removed: RemovedManifests["removed"];
  readonly reach: RemovedManifests["reach"] | null;
};

const NONE: RemovedFromSource = { removed: new Map(), reach: null };

/** Which orphans a plan shows. A part of the source that is reconciled by itself has none. */
export function orphansIn(
  { isWhole, outOfScope }: Desired,
  { seeksOrphans }: { readonly seeksOrphans: boolean },
): PlanInput["orphans"] {
  if (!seeksOrphans || outOfScope !== undefined) return "none";
  return isWhole ? "listed" : "counted";
}

/** What may be an orphan, and what is known of it. */
export type OrphanSearch = RemovedFromSource & {
  /** Whether the plan lists orphans; where only a part of the source was selected, it counts them. */
  readonly shown: PlanInput["orphans"];
  /** Identities that are or were known, declared or not; empty where no orphan is shown. */
  readonly mayBe: Iterable<Identity>;
  /** Those that other targets of the control plane declare. */
  readonly elsewhere: ReadonlySet<Identity>;
};

type Searching = {
  readonly shown: PlanInput["orphans"];
  readonly capabilities: ServerCapabilities;
  readonly signal: AbortSignal;
};

/** What the source no longer declares and no record shows: from the history, or as it was when the records began. */
export async function removedFromSource(
  { history, declared, base }: Desired,
  recorded: ReadonlyMap<Identity, unknown>,
  { shown, capabilities, signal }: Searching,
): Promise<RemovedFromSource> {
  if (shown === "none") return NONE;
  if (recorded.size > 0) return { ...NONE, removed: removedEarlier(capabilities) };
  const line = await history?.declared();
  // What the base still declares is removed by this change, not by a commit of its line.
  const kept = base === null ? declared : new Set([...declared, ...base.keys()]);
  return (await line?.removed(kept, { signal })) ?? NONE;
}

/** The orphans that other targets declare; these are asked about only where there may be one. */
export async function elsewhereOf(
  mayBeOrphans: Iterable<Identity>,
  { declared, declaredElsewhere, live }: Desired & { readonly live: LiveView["live"] },
): Promise<ReadonlySet<Identity>> {
  const isOrphan = (identity: Identity) => !declared.has(identity) && live.get(identity)?.state !== "absent";
  const orphans = [...mayBeOrphans].filter(isOrphan);
  return declaredElsewhere === null || orphans.length === 0 ? new Set() : declaredElsewhere(orphans);
}

type FoundRemoved = {
  readonly recorded: PlanInput["recorded"];
  readonly orphans: OrphanSearch;
  readonly observation: LiveView;
  readonly desired: Desired;
};

/** The orphans of the history that a ledger must remember, since it no longer reads the history once it has records. */
export function removedToKeep({
  orphans: { removed, shown },
  recorded,
  observation,
  desired: { declared },
}: FoundRemoved): readonly RemovedEarlier[] | null {
  if (shown === "none") return null;
  const isGone = (identity: Identity): boolean => observation.live.get(identity)?.state === "absent";
  return [...removed].flatMap(([identity, removal]) => {
    if (declared.has(identity) || recorded.has(identity) || isGone(identity)) return [];
    return [{ ...removal, identity }];
  });
}

function removedEarlier({ removed }: ServerCapabilities): ReadonlyMap<Identity, Removal> {
  return new Map((removed ?? []).map(({ identity, ...removal }) => [identity, removal]));
}
