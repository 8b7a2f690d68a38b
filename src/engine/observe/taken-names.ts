import type { Kind, ListReading } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import {
  isResourceError,
  type LiveQuery,
  type LiveReading,
  type Observation,
  unreadableDiagnostic,
} from "./read-live.ts";

/** Up to this many names are read one by one; for more, the lists of all kinds in as many ranges, or the whole one. */
const MAX_LOOKUPS = 32;

/** A declared resource that the list of its kind does not show. */
type Absent = { readonly identity: Identity; readonly kind: Kind; readonly list: ListReading };

/**
 * Marks absent declared resources whose name another kind has taken, since no write can create them. The list of their own
 * kind does not show resources of other kinds.
 */
export async function withTakenNames(
  queries: readonly LiveQuery[],
  observation: Observation,
  context: LiveReading,
): Promise<Observation> {
  const absent = queries.flatMap(({ kind, declared }): Absent[] => {
    const { list } = kind;
    if (list?.anyKind === undefined || !context.capabilities.has(list.operation)) return [];
    const identities = declared.map(({ manifest }) => manifest.identity);
    return identities.flatMap((identity) =>
      observation.live.get(identity)?.state === "absent" ? [{ identity, kind, list }] : [],
    );
  });
  if (absent.length === 0) return observation;
  try {
    const types = await typesByKey(absent, context);
    const taken = absent.flatMap(({ identity, kind }): (readonly [Identity, Live])[] => {
      const type = types.get(splitIdentity(identity).key);
      if (type === undefined || type === kind.type) return [];
      return [[identity, { state: "unknown", reason: "type-changed", detail: `live has it as ${type}` }]];
    });
    return taken.length === 0 ? observation : { ...observation, live: new Map([...observation.live, ...taken]) };
  } catch (error) {
    if (!isResourceError(error)) throw error;
    const diagnostic = unreadableDiagnostic(error.operation, error, "the plan is not complete: names may be taken");
    return { ...observation, complete: false, diagnostics: [...observation.diagnostics, diagnostic] };
  }
}

type TypeByKey = readonly [key: string, type: string];

async function typesByKey(absent: readonly Absent[], context: LiveReading): Promise<ReadonlyMap<string, string>> {
  const lists = Map.groupBy(absent, ({ list }) => list.operation).values();
  const found = await Promise.all(
    lists.map(async (group) => {
      const replies = await Promise.all(queriesFor(group).map((query) => readTypes(group[0], query, context)));
      return replies.flat();
    }),
  );
  return new Map(found.flat());
}

type Query = { readonly [name: string]: string };

// A fleet shares one control plane: the whole list may be that of a million resources of other targets.
function queriesFor(group: readonly Absent[]): readonly Query[] {
  const keys = group.map(({ identity, list }) => ({ key: splitIdentity(identity).key, list }));
  if (keys.length <= MAX_LOOKUPS) return keys.map(({ key, list }) => list.narrow?.(key) ?? {});
  const ranges = new Map(keys.map(({ key, list }) => [key.slice(0, key.lastIndexOf("/") + 1), list]));
  const queries = [...ranges].map(([range, list]) => list.within?.(range) ?? null);
  return ranges.size > MAX_LOOKUPS || queries.includes(null) ? [{}] : queries.filter((query) => query !== null);
}

async function readTypes(
  one: Absent | undefined,
  query: Query,
  { reader, signal }: LiveReading,
): Promise<readonly TypeByKey[]> {
  const read = one?.list.anyKind;
  if (one === undefined || read === undefined) return [];
  const found: TypeByKey[] = [];
  // Of each row nothing else is kept.
  const condense = (row: unknown): null => {
    const { key, type } = read(row as never);
    found.push([key, type]);
    return null;
  };
  await reader.list(one.list.operation, { query }, { signal, condense });
  return found;
}
