import type { LiveLookup } from "../cache/live-lookup.ts";
import { rowId } from "../client/list.ts";
import type { Surveyed as Listing, Reader } from "../client/reader.ts";
import { KnownRow, type Listed, type Recall } from "../client/recall.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import { type Live, UNREAD } from "../core/live.ts";
import { type Identity, splitIdentity, splitVersion } from "../core/manifest.ts";

/** What the list of one kind shows. */
export type LiveList = {
  /** Of each resource that was asked for. */
  readonly liveOf: (identity: Identity) => Live;
  /** The rows that were read. */
  readonly rows: readonly LiveRow[];
};

/** What surveying needs of its surroundings. */
export type ListContext = {
  readonly reader: Reader;
  /** What is recalled of earlier looks; null where everything has to be read. */
  readonly lookup: LiveLookup | null;
  readonly signal: AbortSignal;
};

/** A list to survey. */
export type ListQuery = {
  readonly kind: Kind;
  readonly list: ListReading;
  /** Query parameters that filter the list; it may still contain more. */
  readonly narrow: { readonly [name: string]: string };
};

/** The resources of its kind that are asked for. */
type Identities = {
  readonly declared: readonly Identity[];
  /** Recorded or referred to, but not declared. */
  readonly others: readonly Identity[];
};

/** A row as its list shows it; of one that is known only that it is there. */
type Seen = {
  readonly key: string;
  readonly version: number | null;
  readonly row: LiveRow | null;
  readonly imprint: string;
};

const READ_ALL: Recall = { row: () => null, page: () => null };
const ABSENT: Live = { state: "absent" };

/** Reads a list, but for the rows that are known and need not be read, and tells what is live of the resources. */
export async function listLive(what: ListQuery, { declared, others }: Identities, on: ListContext): Promise<LiveList> {
  const { lookup } = on;
  const { kind } = what;
  const identities = declared.concat(others);
  if (lookup === null) return mustTell(told(kind, identities, await readEvery(what, on), null));
  const listing = await listed(what, lookup.recall(kind), on);
  // Nothing has moved on either side: the list says what it said, of whatever stands.
  const isAsItWas = listing.is === "known" && lookup.notePages(kind, listing.pages);
  if (isAsItWas && others.length === 0 && !declared.some(lookup.isOpen)) return { liveOf: () => UNREAD, rows: [] };
  const survey = told(kind, identities, recognise(what, lookup, listing), lookup);
  if (survey !== null) return survey;
  // What stands for a resource now was passed over as another's row: rare enough to read everything.
  const again = recognise(what, lookup, await listed(what, READ_ALL, on));
  return mustTell(told(kind, identities, again, lookup));
}

function mustTell(survey: LiveList | null): LiveList {
  if (survey === null) throw new TypeError("a row was read and is not told");
  return survey;
}

async function readEvery({ list, narrow }: ListQuery, { reader, signal }: ListContext): Promise<readonly Seen[]> {
  const replies = await reader.list(list.operation, { query: { ...list.query, ...narrow } }, { signal });
  return replies.flatMap((reply) => {
    const row = readRow(list, reply);
    return row === null ? [] : [seenRow(row, "")];
  });
}

async function listed({ list, narrow }: ListQuery, recall: Recall, on: ListContext): Promise<Listing<unknown>> {
  const where = { query: { ...list.query, ...narrow } };
  return on.reader.survey(list.operation, where, { signal: on.signal, recall });
}

function recognise({ kind, list }: ListQuery, lookup: LiveLookup, listing: Listing<unknown>): readonly Seen[] {
  const facts: KnownRow[] = [];
  const seen: Seen[] = [];
  for (const one of rowsOf(listing)) {
    const row = one.is === "known" ? null : readRow(list, one.row);
    const fact = one.is === "known" ? one.row : factOf(one, row);
    if (fact.imprint !== "") facts.push(fact);
    const { key, version, imprint } = fact;
    if (key !== null) seen.push({ key, version, imprint, row: row && { ...row, imprint } });
  }
  lookup.note(kind, { rows: facts, pages: listing.pages });
  return seen;
}

function rowsOf(listing: Listing<unknown>): Iterable<Listed<unknown>> {
  if (listing.is === "read") return listing.rows;
  return listing.pages.values().flatMap(({ rows }) => rows.map((row) => ({ is: "known", row })));
}

function factOf(one: Extract<Listed<unknown>, { is: "read" }>, row: LiveRow | null): KnownRow {
  return new KnownRow(one.imprint ?? "", {
    id: rowId(one.row),
    key: row?.key ?? null,
    version: row?.version ?? null,
  });
}

function seenRow(row: LiveRow, imprint: string): Seen {
  return { key: row.key, version: row.version ?? null, row, imprint };
}

/** Tells what is live of the resources; null where the row of one would have to be read and was not. */
function told(
  kind: Kind,
  identities: readonly Identity[],
  seen: readonly Seen[],
  lookup: LiveLookup | null,
): LiveList | null {
  const find = kind.versions === undefined ? findByKey(seen) : findVersion(seen);
  const live = new Map<Identity, Live>();
  for (const identity of identities) {
    const found = liveFrom(identity, find(splitIdentity(identity).key), lookup);
    if (found === null) return null;
    live.set(identity, found);
  }
  return { liveOf: (identity) => live.get(identity) ?? ABSENT, rows: seen.flatMap(({ row }) => row ?? []) };
}

/** The row that stands for a resource; where there is none, the newest version that its name has. */
type Found = { readonly row: Seen | undefined; readonly newest?: number | null };

function findByKey(seen: readonly Seen[]): (key: string) => Found {
  const index = Map.groupBy(seen, ({ key }) => key);
  return (key) => ({ row: index.get(key)?.[0] });
}

function findVersion(seen: readonly Seen[]): (key: string) => Found {
  const newestFirst = seen.toSorted((a, b) => (b.version ?? 0) - (a.version ?? 0));
  const index = Map.groupBy(newestFirst, ({ key }) => key);
  // Each name once: it may have as many versions as are asked for.
  const numbered = new Map<string, ReadonlyMap<number | null, Seen>>();
  return (key) => {
    const { name, version } = splitVersion(key);
    const rows = index.get(name) ?? [];
    if (version === null) return { row: rows[0] };
    // Of rows with one number the first one counts.
    const byNumber = numbered.get(name) ?? new Map(rows.toReversed().map((row) => [row.version, row]));
    numbered.set(name, byNumber);
    return { row: byNumber.get(version), newest: rows[0]?.version ?? null };
  };
}

// Null where the row would have to be read and was not.
function liveFrom(identity: Identity, { row: seen, newest = null }: Found, lookup: LiveLookup | null): Live | null {
  if (seen === undefined) return newest === null ? ABSENT : { state: "absent", newest };
  if (seen.row !== null) return { state: "present", row: seen.row };
  return lookup?.isKept(identity, seen.imprint) ? UNREAD : null;
}
