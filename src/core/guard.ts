import { isThere, type LiveView } from "./live.ts";
import { type Identity, splitIdentity } from "./manifest.ts";

/** From how many recorded resources on a shrunken source is refused. */
const FROM = 10;
/** The share of the recorded resources that a source must still declare. */
const SHARE = 0.7;

/** From how many resources on how large a share of them has to be there still. */
export type ShrinkLimits = { readonly shrinkFrom?: number; readonly shrinkShare?: number };

/** Whether guards stop less than the default ones do. */
export function isLooserThanDefault({
  shrinkFrom,
  shrinkShare,
}: { [name in keyof ShrinkLimits]?: number | null }): boolean {
  return (shrinkFrom ?? FROM) > FROM || (shrinkShare ?? SHARE) < SHARE;
}

/** Why a source may not be acted on, or null: an emptied or suddenly smaller source is more often an accident. */
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

/** Why an emptied source may not even be planned, or null. */
export function emptyGuard(recorded: readonly Identity[], declared: ReadonlySet<Identity>): string | null {
  if (recorded.length === 0 || declared.size > 0) return null;
  return `the source declares nothing, but the ledger knows ${recorded.length} resources`;
}

/**
 * Why live may not be acted on, or null. A list is wrong for one kind as a rule, so each kind counts on its own too; what
 * cannot be read counts neither way.
 */
export function liveGuard(
  recorded: Iterable<Identity>,
  view: LiveView,
  { shrinkFrom = FROM, shrinkShare = SHARE }: ShrinkLimits = {},
): string | null {
  const readable = [...recorded].filter(
    (identity) => isThere(view, identity) || view.live.get(identity)?.state === "absent",
  );
  const kinds = Map.groupBy(readable, (identity) => splitIdentity(identity).kind);
  for (const [what, known] of [["resources", readable] as const, ...kinds]) {
    const found = known.filter((identity) => isThere(view, identity)).length;
    if (known.length < shrinkFrom || found >= known.length * shrinkShare) continue;
    const expected = `at least ${Math.round(shrinkShare * 100)} % expected`;
    return `live shows ${found} of the ${known.length} ${what} that the ledger knows and that can be read (${expected})`;
  }
  return null;
}
