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

/** Up to this many names are read one by one; for more, the list of all kinds is read. */
const MAX_SINGLE_LOOKUPS = 32;

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

async function typesByKey(absent: readonly Absent[], context: LiveReading): Promise<ReadonlyMap<string, string>> {
  const lists = Map.groupBy(absent, ({ list }) => list.operation).values();
  const found = await Promise.all(
    lists.map(async (group) => {
      if (group.length > MAX_SINGLE_LOOKUPS) return readTypes(group[0], {}, context);
      const narrowed = group.map((one) =>
        readTypes(one, one.list.narrow?.(splitIdentity(one.identity).key) ?? {}, context),
      );
      return (await Promise.all(narrowed)).flat();
    }),
  );
  return new Map(found.flat().map(({ key, type }) => [key, type]));
}

async function readTypes(
  one: Absent | undefined,
  query: { readonly [name: string]: string },
  { reader, signal }: LiveReading,
): Promise<readonly { readonly key: string; readonly type: string }[]> {
  const read = one?.list.anyKind;
  if (one === undefined || read === undefined) return [];
  const rows: readonly unknown[] = await reader.list(one.list.operation, { query }, { signal });
  return rows.map((row) => read(row as never));
}
