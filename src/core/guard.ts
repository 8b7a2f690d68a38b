import type { Identity } from "./manifest.ts";

/** From how many recorded resources on a shrunken source is refused. */
const FROM = 10;
/** The share of the recorded resources that a source must still declare. */
const SHARE = 0.7;

/** Why a source may not be acted on, or null: an emptied or suddenly smaller source is more often an accident. */
export function shrinkGuard(
  recorded: Iterable<Identity>,
  declared: ReadonlySet<Identity>,
  { shrinkFrom = FROM, shrinkShare = SHARE }: { readonly shrinkFrom?: number; readonly shrinkShare?: number } = {},
): string | null {
  const known = [...recorded];
  const kept = known.filter((identity) => declared.has(identity)).length;
  if (known.length > 0 && declared.size === 0) {
    return `the source declares nothing, but the ledger knows ${known.length} resources`;
  }
  if (known.length < shrinkFrom || kept >= known.length * shrinkShare) return null;
  return `the source declares ${kept} of the ${known.length} resources that the ledger knows (at least ${Math.round(shrinkShare * 100)} % expected)`;
}
