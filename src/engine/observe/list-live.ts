import type { KnownInSync } from "../../cache/known-in-sync.ts";
import type { KnownRows, ListedRow } from "../../cache/list-reader.ts";
import { type Kind, type ListReading, readRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, splitIdentity, splitVersion } from "../../core/manifest.ts";
import type { ReaderAccess } from "./read-by-id.ts";
import { readGivenRanges, readRanges } from "./read-ranges.ts";

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

/** The number of rows that one request for a list returns. */
const PAGE = 1000;

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
  const query = { ...what, within: rangesToRead(what, identities, known) };
  if (known === null) return requireComplete(liveList(what, identities, await readEvery(query, context), null));
  const list = liveList(what, identities, await readUnknown(query, known, context), known);
  if (list !== null) return list;
  // A skipped row now belongs to a different resource. This is rare, so everything is read.
  return requireComplete(liveList(what, identities, await readUnknown(query, known, context, { all: true }), known));
}

/** A query that is narrowed further, to the ranges in which all requested resources are; to none for all that it shows. */
type RangeQuery = ListQuery & { readonly within: readonly string[] };

// Only where it takes no more requests than the whole list, which may show what thousands of other targets declare.
function rangesToRead(
  { kind, list, narrow }: ListQuery,
  identities: readonly Identity[],
  known: KnownInSync | null,
): readonly string[] {
  if (list.within === undefined || isFiltered(narrow)) return [];
  const pages = Math.ceil((known?.digests.kinds.get(kind.type)?.count ?? 0) / PAGE);
  const most = Math.min(MAX_SINGLE_LOOKUPS, Math.max(1, pages - 1));
  const ranges = new Set<string>();
  for (const identity of identities) {
    ranges.add(identity.slice(kind.type.length + 1, identity.lastIndexOf("/") + 1));
    if (ranges.size > most) return [];
  }
  return [...ranges].some((range) => list.within?.(range) == null) ? [] : [...ranges].toSorted();
}

function filtersOf({ list, narrow, within }: RangeQuery): readonly ListQuery["narrow"][] {
  return within.length === 0 ? [narrow] : within.map((range) => list.within?.(range) ?? narrow);
}

function isFiltered(narrow: ListQuery["narrow"]): boolean {
  return Object.keys(narrow).length > 0;
}

function requireComplete(list: LiveList | null): LiveList {
  if (list === null) throw new TypeError("the list was read in full, but a row of a requested resource was not parsed");
  return list;
}

async function readEvery(query: RangeQuery, { reader, signal }: ListAccess): Promise<readonly ListedRow[]> {
  const { list } = query;
  const replies = await Promise.all(
    filtersOf(query).map((filter) => reader.list(list.operation, { query: { ...list.query, ...filter } }, { signal })),
  );
  return replies.flat().flatMap((reply) => {
    const row = readRow(list, reply);
    return row === null ? [] : [{ key: row.key, version: row.version ?? null, row, digest: "" }];
  });
}

async function readUnknown(
  query: RangeQuery,
  known: KnownInSync,
  { reader, signal }: ListAccess,
  options: { readonly all?: boolean } = {},
): Promise<readonly ListedRow[]> {
  const { kind, list, narrow, within } = query;
  const { parse, condense, rowOf, end, endPart } = known.listReader(kind, list, { ...options, within });
  const read = (filter: ListQuery["narrow"]): Promise<readonly unknown[]> =>
    reader.list(list.operation, { query: { ...list.query, ...filter } }, { signal, parse, condense });
  const part = isFiltered(narrow) || options.all ? null : await partToRead(query, known);
  if (part !== null) {
    const replies = await Promise.all(part.filters.map(read));
    const again = replies.flat().flatMap((reply) => rowOf(reply) ?? []);
    endPart(part.isRead);
    return part.rows.filter(({ key }) => !part.isRead(key)).concat(again.filter(({ key }) => part.isRead(key)));
  }
  const replies = (await Promise.all(filtersOf(query).map(read))).flat();
  const rows = replies.flatMap((reply) => rowOf(reply) ?? []);
  end(replies.length);
  return rows;
}

/** The part of a list that must be read, where the rest is known. */
type Part = {
  readonly rows: readonly ListedRow[];
  /** The queries that narrow the list to it. */
  readonly filters: readonly ListQuery["narrow"][];
  /** Whether the resource with this key is in it. */
  readonly isRead: (key: string) => boolean;
};

// Null where the whole list must be read, or is read with no more requests.
async function partToRead({ kind, list, within }: RangeQuery, known: KnownInSync): Promise<Part | null> {
  const said = known.digests.kinds.get(kind.type);
  if (said === undefined) return null;
  const { state = null, ranges: before = new Map<string, string>() } = known.cachedList(kind, within) ?? {};
  if (state === said.state)
    return partOf(list, known.knownRows(kind), { changed: [], gone: [], most: MAX_SINGLE_LOOKUPS });
  const isNarrowed = within.length > 0;
  const most = isNarrowed ? within.length + MAX_SINGLE_LOOKUPS : Math.ceil(said.count / PAGE);
  if (list.within === undefined || most === 1) return null;
  const { of, below } = known.digests;
  const found = isNarrowed ? await readGivenRanges(kind, within, of) : await readRanges(kind, before, { below, most });
  if (found === null) return null;
  const { ranges } = found;
  known.noteRanges(kind, found);
  // Without a state, the rows of an earlier pass may not be all that there were.
  if (state === null || before.size === 0) return null;
  const isOther = (range: string): boolean => before.get(range) !== ranges.get(range);
  const keysOf = (all: Iterable<string>) => [...all].filter(isOther).map((range) => range.slice(kind.type.length + 1));
  const gone = keysOf(before.keys()).filter((range) => !ranges.has(`${kind.type}/${range}`));
  return partOf(list, known.knownRows(kind), { changed: keysOf(ranges.keys()), gone, most });
}

/** Ranges that are other than before, by how their keys begin, and how many requests may be made for what must be read. */
type Changes = { readonly changed: readonly string[]; readonly gone: readonly string[]; readonly most: number };

function partOf(list: ListReading, { rows, toRead }: KnownRows, { changed, gone, most }: Changes): Part | null {
  const parts = changed.map((range) => list.within?.(range) ?? null).filter((filter) => filter !== null);
  const ranges = new Set([...changed, ...gone]);
  const isChanged = (key: string): boolean => ranges.has(key.slice(0, key.lastIndexOf("/") + 1));
  const named = [...toRead].filter((key) => !isChanged(key));
  if (named.length > 0 && list.narrow === undefined) return null;
  if (parts.length + named.length > most) return null;
  const filters = [...parts, ...named.map((key) => list.narrow?.(key) ?? {})];
  return { rows, filters, isRead: (key) => isChanged(key) || toRead.has(key) };
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
