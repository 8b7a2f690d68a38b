import type { Digests, RangesRead } from "../../cache/known-in-sync.ts";
import type { CachedList } from "../../cache/live-facts.ts";
import type { RangeState } from "../../cache/range-digests.ts";
import type { Kind } from "../../core/kind.ts";

/**
 * Reads the digests of the ranges within a kind that its list can be narrowed to, and of those above them; asks only about
 * ranges that have changed. Null where the control plane does not tell them, or with more than so many requests.
 */
export async function readRanges(
  { type, list }: Kind,
  before: CachedList["ranges"],
  { below, most }: { readonly below: Digests["below"]; readonly most: number },
): Promise<RangesRead | null> {
  const ranges = new Map<string, string>();
  let open: readonly string[] = [`${type}/`];
  for (let asked = 0; open.length > 0; ) {
    asked += open.length;
    if (asked > most) return null;
    const found = await Promise.all(open.map(below));
    if (found.some(({ size }) => size === 0)) return null;
    const children = found.flatMap((each): (readonly [string, RangeState])[] => [...each]);
    for (const [range, { state }] of children) ranges.set(range, state);
    const isWide = (range: string): boolean => (list?.within?.(range.slice(type.length + 1)) ?? null) === null;
    const wide = children.flatMap(([range]) => (isWide(range) ? [range] : []));
    open = wide.filter((range) => before.get(range) !== ranges.get(range));
    const same = wide.filter((range) => !open.includes(range));
    for (const [range, state] of before) if (same.some((above) => range.startsWith(above))) ranges.set(range, state);
  }
  return { ranges, count: null };
}

/** Reads the digests of some ranges of a kind, by how the keys in them begin; null where the control plane does not tell one. */
export async function readGivenRanges(
  { type }: Kind,
  within: CachedList["within"],
  of: Digests["of"],
): Promise<RangesRead | null> {
  const ranges = new Map<string, string>();
  let count = 0;
  for (const [range, said] of await Promise.all(
    within.map(async (key) => [`${type}/${key}`, await of(`${type}/${key}`)] as const),
  )) {
    if (said === null) return null;
    ranges.set(range, said.state);
    count += said.count;
  }
  return { ranges, count };
}
