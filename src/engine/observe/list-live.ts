import type { KnownInSync } from "../../cache/known-in-sync.ts";
import type { KnownRows, ListedRow } from "../../cache/list-reader.ts";
import { type Kind, type ListReading, readRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, splitIdentity, splitVersion } from "../../core/manifest.ts";
import type { ReaderAccess } from "./read-by-id.ts";

/** The live state from the list of one kind. */
export type LiveList = {
  /** The state of each requested resource, except those known to be in sync. */
  readonly live: ReadonlyMap<Identity, Live>;
  readonly inSync: ReadonlySet<Identity>;
  /** Everything that the list shows. */
  readonly rows: readonly ListedRow[];
};

/** How lists are read. */
export type ListAccess = ReaderAccess & {
  /** What earlier passes have found in sync; null where everything must be read. */
  readonly known: KnownInSync | null;
};

/** A list to read. */
export type ListQuery = {
  readonly kind: Kind;
  readonly list: ListReading;
  /** Query parameters that filter the list; it may still contain more. */
  readonly narrow: { readonly [name: string]: string };
};

/** The requested resources of the kind. */
type Identities = {
  readonly declared: readonly Identity[];
  /** Recorded or referred to, but not declared. */
  readonly others: readonly Identity[];
};

/** Up to this many are read by name, where the list can be filtered; for more, the whole list is read. */
export const MAX_SINGLE_LOOKUPS = 8;

const ABSENT: Live = { state: "absent" };

/** Reads the live state of resources from a list, without parsing rows that are known to be in sync. */
export async function listLive(
  what: ListQuery,
  { declared, others }: Identities,
  context: ListAccess,
): Promise<LiveList> {
  const identities = declared.concat(others);
  const { known } = context;
  if (known === null) return requireComplete(liveList(what, identities, await readEvery(what, context), null));
  const list = liveList(what, identities, await readUnknown(what, known, context), known);
  if (list !== null) return list;
  // A skipped row now belongs to a different resource. This is rare, so everything is read.
  return requireComplete(liveList(what, identities, await readUnknown(what, known, context, { all: true }), known));
}

function requireComplete(list: LiveList | null): LiveList {
  if (list === null) throw new TypeError("the list was read in full, but a row of a requested resource was not parsed");
  return list;
}

async function readEvery({ list, narrow }: ListQuery, { reader, signal }: ListAccess): Promise<readonly ListedRow[]> {
  const replies = await reader.list(list.operation, { query: { ...list.query, ...narrow } }, { signal });
  return replies.flatMap((reply) => {
    const row = readRow(list, reply);
    return row === null ? [] : [{ key: row.key, version: row.version ?? null, row, digest: "" }];
  });
}

async function readUnknown(
  query: ListQuery,
  known: KnownInSync,
  { reader, signal }: ListAccess,
  options: { readonly all?: boolean } = {},
): Promise<readonly ListedRow[]> {
  const { kind, list, narrow } = query;
  const { parse, condense, rowOf, end, endPart } = known.listReader(kind, list, options);
  const read = (filter: ListQuery["narrow"]): Promise<readonly unknown[]> =>
    reader.list(list.operation, { query: { ...list.query, ...filter } }, { signal, parse, condense });
  const isWhole = Object.keys(narrow).length === 0;
  const unchanged = isWhole && !options.all ? known.unchangedList(kind) : null;
  if (unchanged !== null && isReadable(unchanged, list)) {
    const { rows, toRead } = unchanged;
    const replies = await Promise.all([...toRead].map((key) => read(list.narrow?.(key) ?? {})));
    const again = replies.flat().flatMap((reply) => rowOf(reply) ?? []);
    endPart(toRead);
    return rows.filter(({ key }) => !toRead.has(key)).concat(again.filter(({ key }) => toRead.has(key)));
  }
  const replies = await read(narrow);
  const rows = replies.flatMap((reply) => rowOf(reply) ?? []);
  end(replies.length);
  return rows;
}

// Whether the rows that must be read of a list without changes are few enough to be read by their names.
function isReadable({ toRead }: KnownRows, { narrow }: ListReading): boolean {
  return toRead.size === 0 || (narrow !== undefined && toRead.size <= MAX_SINGLE_LOOKUPS);
}

/** The live state of the resources; null where the row of one is needed and was not parsed. */
function liveList(
  { kind }: ListQuery,
  identities: readonly Identity[],
  seen: readonly ListedRow[],
  known: KnownInSync | null,
): LiveList | null {
  const find = kind.hasVersions ? findVersion(seen) : findByKey(seen);
  const live = new Map<Identity, Live>();
  const inSync = new Set<Identity>();
  for (const identity of identities) {
    const { row, newest = null } = find(splitIdentity(identity).key);
    if (row === undefined) live.set(identity, newest === null ? ABSENT : { state: "absent", newest });
    else if (row.row !== null) live.set(identity, { state: "present", row: row.row });
    else if (known?.isInSync(identity, row.digest)) inSync.add(identity);
    else return null;
  }
  return { live, inSync, rows: seen };
}

/** The row of a resource, or without one the newest version of its name. */
type Found = { readonly row: ListedRow | undefined; readonly newest?: number | null };

function findByKey(seen: readonly ListedRow[]): (key: string) => Found {
  const index = Map.groupBy(seen, ({ key }) => key);
  return (key) => ({ row: index.get(key)?.[0] });
}

function findVersion(seen: readonly ListedRow[]): (key: string) => Found {
  const newestFirst = seen.toSorted((a, b) => (b.version ?? 0) - (a.version ?? 0));
  const index = Map.groupBy(newestFirst, ({ key }) => key);
  // Indexed once per name, since many of its versions may be requested.
  const numbered = new Map<string, ReadonlyMap<number | null, ListedRow>>();
  return (key) => {
    const { name, version } = splitVersion(key);
    const rows = index.get(name) ?? [];
    if (version === null) return { row: rows[0] };
    // The first of several rows with the same version counts.
    const byNumber = numbered.get(name) ?? new Map(rows.toReversed().map((row) => [row.version, row]));
    numbered.set(name, byNumber);
    return { row: byNumber.get(version), newest: rows[0]?.version ?? null };
  };
}
