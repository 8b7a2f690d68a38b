import { once } from "./once.ts";

/** An immutable list with lookup of its members by name. */
export type NamedList<One> = {
  readonly list: readonly One[];
  /** The member with a name; the first if there are several. */
  readonly named: (name: string) => One | undefined;
  /** The members with one of the names, in the order of the list. */
  readonly among: (names: Iterable<string>) => readonly One[];
  /** A copy with some members replaced by those of the same name. */
  readonly withReplaced: (members: readonly One[]) => NamedList<One>;
};

/** A list with lookup by name. The index is built on the first lookup, which most lists never have. */
export function namedList<One>(list: readonly One[], nameOf: (one: One) => string): NamedList<One> {
  return withPositions(
    list,
    nameOf,
    once(() => positionsIn(list, nameOf)),
  );
}

function positionsIn<One>(list: readonly One[], nameOf: (one: One) => string): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  for (const [at, one] of list.entries()) {
    const name = nameOf(one);
    if (!positions.has(name)) positions.set(name, at);
  }
  return positions;
}

// A list with other members of the same names has the same index, so a small change to a long list is cheap.
function withPositions<One>(
  list: readonly One[],
  nameOf: (one: One) => string,
  positions: () => ReadonlyMap<string, number>,
): NamedList<One> {
  return {
    list,
    named: (name) => {
      const at = positions().get(name);
      return at === undefined ? undefined : list[at];
    },
    among: (names) => {
      const wanted = new Set([...names].flatMap((name) => positions().get(name) ?? []));
      return [...wanted].toSorted((a, b) => a - b).flatMap((at) => list[at] ?? []);
    },
    withReplaced: (members) => {
      if (members.length === 0) return withPositions(list, nameOf, positions);
      const next = list.slice();
      for (const member of members) {
        const at = positions().get(nameOf(member));
        if (at !== undefined) next[at] = member;
      }
      return withPositions(next, nameOf, positions);
    },
  };
}
