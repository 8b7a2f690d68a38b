// Finds members of long lists by their names. Of two lists that differ in the content of few members, the later one takes
// over what was found for the earlier one, so that a small change costs little however long the list is.

type NameOf<One> = (one: One) => string;

const found = new WeakMap<readonly unknown[], ReadonlyMap<string, number>>();

/** Where each name first stands in a list that does not change; a list always has its names from the same function. */
export function positionsIn<One>(list: readonly One[], nameOf: NameOf<One>): ReadonlyMap<string, number> {
  const known = found.get(list);
  if (known !== undefined) return known;
  const positions = new Map<string, number>();
  for (const [at, one] of list.entries()) {
    const name = nameOf(one);
    if (!positions.has(name)) positions.set(name, at);
  }
  found.set(list, positions);
  return positions;
}

/** The members that have one of the names, in the order of the list. */
export function membersNamed<One>(list: readonly One[], names: Iterable<string>, nameOf: NameOf<One>): readonly One[] {
  const positions = positionsIn(list, nameOf);
  const wanted = new Set([...names].flatMap((name) => positions.get(name) ?? []));
  return [...wanted].toSorted((a, b) => a - b).flatMap((at) => list[at] ?? []);
}

/** The list with some of its members replaced by those of the same names. */
export function withReplaced<One>(list: readonly One[], members: readonly One[], nameOf: NameOf<One>): readonly One[] {
  if (members.length === 0) return list;
  const positions = positionsIn(list, nameOf);
  const next = list.slice();
  for (const member of members) {
    const at = positions.get(nameOf(member));
    if (at !== undefined) next[at] = member;
  }
  found.set(next, positions);
  return next;
}
