import { exists, type LiveView } from "../live.ts";
import { type Identity, splitIdentity } from "../manifest.ts";
import type { Action } from "../plan/plan.ts";

/** The number of recorded resources from which a shrunken source is refused. */
const FROM = 10;
/** The share of the recorded resources that a source must still declare. */
const SHARE = 0.7;

/** The code of the diagnostic about a source that lost too many resources. */
export const SHRUNK_SOURCE = "shrunk-source";

/** The largest share of the resources that a daemon updates in one pass. */
const UPDATE_SHARE = 0.3;

/** `shrinkShare` of the recorded resources must remain when there are at least `shrinkFrom`. */
export type ShrinkLimits = { readonly shrinkFrom?: number; readonly shrinkShare?: number };

/** Whether guards are less strict than the defaults. */
export function isLooserThanDefault({
  shrinkFrom,
  shrinkShare,
  updateShare,
}: { [name in keyof ShrinkLimits]?: number | null } & { readonly updateShare?: number | null }): boolean {
  const isLooser = (shrinkFrom ?? FROM) > FROM || (shrinkShare ?? SHARE) < SHARE;
  return isLooser || (updateShare ?? UPDATE_SHARE) > UPDATE_SHARE;
}

/**
 * Why a daemon may not update this many resources at once, or null. `others` counts the kept resources without a step.
 */
export function updateGuard(
  steps: readonly { readonly action: Action }[],
  others: number,
  share: number = UPDATE_SHARE,
): string | null {
  const updates = steps.filter(({ action }) => action === "update").length;
  const existing = steps.filter(({ action }) => action === "keep").length + updates + others;
  if (existing < FROM || updates <= existing * share) return null;
  const most = Math.round(share * 100);
  return `${updates} of ${existing} resources would be updated in one pass (at most ${most} % expected): run apply by hand, or raise guards.updateShare`;
}

/** Why a source may not be applied, or null: an emptied or suddenly smaller source is usually an accident. */
export function shrinkGuard(
  recorded: Iterable<Identity>,
  declared: ReadonlySet<Identity>,
  { shrinkFrom = FROM, shrinkShare = SHARE }: ShrinkLimits = {},
): string | null {
  const known = [...recorded];
  const kept = known.filter((identity) => declared.has(identity)).length;
  const emptied = emptyGuard(known, declared);
  if (emptied !== null) return emptied;
  if (known.length < shrinkFrom || kept >= known.length * shrinkShare) return null;
  return `the source declares ${kept} of the ${known.length} resources that the ledger knows (at least ${Math.round(shrinkShare * 100)} % expected)`;
}

/** Why an emptied source may not be planned, or null. */
export function emptyGuard(recorded: readonly Identity[], declared: ReadonlySet<Identity>): string | null {
  if (recorded.length === 0 || declared.size > 0) return null;
  const known = recorded.length === 1 ? "one resource" : `${recorded.length} resources`;
  return `the source declares nothing, but the ledger knows ${known}`;
}

/**
 * Why live may not be acted on, or null. A wrong list usually affects one kind, so each kind is also checked on its
 * own. Resources that cannot be read are not counted.
 */
export function liveGuard(
  recorded: Iterable<Identity>,
  view: LiveView,
  { shrinkFrom = FROM, shrinkShare = SHARE }: ShrinkLimits = {},
): string | null {
  const readable = [...recorded].filter(
    (identity) => exists(view, identity) || view.live.get(identity)?.state === "absent",
  );
  const kinds = Map.groupBy(readable, (identity) => splitIdentity(identity).kind);
  for (const [what, known] of [["resources", readable] as const, ...kinds]) {
    const found = known.filter((identity) => exists(view, identity)).length;
    if (known.length < shrinkFrom || found >= known.length * shrinkShare) continue;
    const expected = `at least ${Math.round(shrinkShare * 100)} % expected`;
    return `live shows ${found} of the ${known.length} ${what} that the ledger knows and that can be read (${expected})`;
  }
  return null;
}
