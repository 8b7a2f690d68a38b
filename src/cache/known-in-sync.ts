import { isDeepStrictEqual } from "node:util";
import type { BodyParser } from "../client/decode-body.ts";
import { contentDigest } from "../contract/content-digest.ts";
import type { JsonObject } from "../contract/json.ts";
import { isFastEqual } from "../core/decide/decide.ts";
import type { Kind, ListReading, LiveRow } from "../core/kind.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import { isParsed, type SourceManifest } from "../manifests/source-manifest.ts";
import type { ReceiptContents, ReceiptHead } from "../state/ledger.ts";
import { contentText } from "../state/receipt-digest.ts";
import { createListReader, type KnownRows, knownRowsOf, type ListReader } from "./list-reader.ts";
import type { CachedList, CachedPage, LiveFacts, SyncRecord } from "./live-facts.ts";
import type { RangeState } from "./range-digests.ts";

/** What decides whether a resource is in sync, apart from live. */
export type SyncBasis = {
  readonly manifests: readonly SourceManifest[];
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Whether a resource that is in sync must also have a receipt. */
  readonly records: boolean;
  readonly ledger: ReceiptContents;
};

/** What one pass knows about live from earlier passes, and what it adds. */
export type KnownInSync = {
  /** A reader for the list of a kind within some ranges; with `all`, it parses every row. */
  readonly listReader: (kind: Kind, list: ListReading, options: ListOptions) => ListReader;
  /** What the control plane says of ranges of resources. */
  readonly digests: Digests;
  /** The list of a kind within these ranges, as it was read in an earlier pass; absent where it was not. */
  readonly cachedList: (kind: Kind, within: CachedList["within"]) => CachedList | undefined;
  /** The rows of this list. */
  readonly knownRows: (kind: Kind) => KnownRows;
  /** Notes what the control plane said of ranges within a kind, before the list of it is read. */
  readonly noteRanges: (kind: Kind, read: RangesRead) => void;
  /** A reader for a reply that shows one resource. */
  readonly replyReader: (identity: Identity, reply: keyof typeof NOT_PARSED) => ReplyReader;
  /** Whether a row with this digest shows that a resource is in sync. A resource that is not declared always is. */
  readonly isInSync: (identity: Identity, row: string) => boolean;
  /** Whether a manifest equals its receipt, for a resource whose live state cannot be read. */
  readonly isAsRecorded: (identity: Identity) => boolean;
  /** What has been read so far, with the digests of these rows. */
  readonly rowsRead: (rows: Iterable<LiveRow>) => RowsRead;
};

/** What a control plane says of ranges within a kind. */
export type RangesRead = {
  readonly ranges: CachedList["ranges"];
  /** The number of resources in them; null where they are all of the kind. */
  readonly count: number | null;
};

/** How a list is read. */
export type ListOptions = { readonly within: CachedList["within"]; readonly all?: boolean };

/** What one pass has read of live, by the digests of bytes. */
export type RowsRead = {
  /** Resources that were found in sync while rows were read. */
  readonly inSync: ReadonlyMap<Identity, SyncRecord>;
  /** The lists that were read completely, by kind. */
  readonly lists: ReadonlyMap<string, CachedList>;
  /** The digest of the bytes that each row was parsed from. */
  readonly digests: ReadonlyMap<LiveRow, string>;
};

/** Reads one reply. */
export type ReplyReader = {
  readonly parse: BodyParser;
  /** Whether the reply was recognised as in sync and not parsed. */
  readonly isSame: () => boolean;
  /** Notes the row that was read from the reply. */
  readonly noteRow: (row: LiveRow) => void;
};

/** What a control plane says of ranges of resources, asked before their lists are read: what changes in between has another digest next time. */
export type Digests = {
  /** By kind. */
  readonly kinds: ReadonlyMap<string, RangeState>;
  /** Asks for a range itself; null where the control plane does not tell it. */
  readonly of: (prefix: string) => Promise<RangeState | null>;
  /** Asks for the ranges directly below a prefix; none where the control plane does not tell them. */
  readonly below: (prefix: string) => Promise<ReadonlyMap<string, RangeState>>;
};

/** What the control plane and the source say of what may have changed. */
export type ChangesSince = {
  /** The resources that must be read. */
  readonly toRead: ReadonlySet<Identity>;
  readonly digests: Digests;
};

/** The results of earlier passes that are still valid: neither manifest nor receipt has changed. */
export function knownInSync(facts: LiveFacts, { toRead, digests: said }: ChangesSince, basis: SyncBasis): KnownInSync {
  const manifests = new Map(basis.manifests.map((manifest) => [manifest.identity, manifest]));
  const recordOf = (identity: Identity): SyncRecord | undefined =>
    manifests.has(identity) && !toRead.has(identity) ? facts.inSync.get(identity) : undefined;
  const found = new Map<Identity, SyncRecord>();
  const lists = new Map<string, CachedList>();
  const ranges = new Map<string, RangesRead>();
  const cachedList: KnownInSync["cachedList"] = ({ type }, within) => {
    const cached = facts.lists.get(type);
    return cached !== undefined && isDeepStrictEqual(cached.within, within) ? cached : undefined;
  };
  const digests = new WeakMap<LiveRow, string>();
  const saidOf = (kind: Kind, within: CachedList["within"]): RangeState | undefined => {
    const whole = said.kinds.get(kind.type);
    if (whole === undefined || within.length === 0) return whole;
    // What has the same digest as before has as many rows.
    const before = cachedList(kind, within);
    const count = ranges.get(kind.type)?.count ?? (before?.state === whole.state ? rowsIn(before.pages) : null);
    return count === null ? undefined : { ...whole, count };
  };
  const noted = (kind: Kind, within: CachedList["within"], read: ReadList): CachedList => {
    const state = stateOf(read, saidOf(kind, within));
    const before = cachedList(kind, within);
    return { within, pages: read.pages, state, ranges: ranges.get(kind.type)?.ranges ?? rangesAsBefore(before, state) };
  };
  return {
    digests: said,
    noteRanges: ({ type }, read) => void ranges.set(type, read),
    rowsRead: (rows) => ({ inSync: found, lists, digests: digestsOf(rows, digests) }),
    isInSync: (identity, row) =>
      !manifests.has(identity) || recordOf(identity)?.row === row || found.get(identity)?.row === row,
    isAsRecorded: (identity) => recordOf(identity)?.row === null,
    listReader: (kind, list, { within, all = false }) =>
      createListReader(kind, list, {
        pages: all ? [] : (facts.lists.get(kind.type)?.pages ?? []),
        mustRead: (identity) => toRead.has(identity),
        isInSync: (row, digest) => !basis.records && isFoundInSync(kind, { row, digest, manifests, found }, basis),
        noteRow: (row, digest) => digests.set(row, digest),
        noteList: (pages, rows) => lists.set(kind.type, noted(kind, within, { pages, rows })),
      }),
    cachedList,
    knownRows: (kind) => knownRowsOf(kind, facts.lists.get(kind.type)?.pages ?? [], (identity) => toRead.has(identity)),
    replyReader: (identity, reply) => replyReader(recordOf(identity)?.row ?? null, NOT_PARSED[reply], digests),
  };
}

type ReadList = { readonly pages: readonly CachedPage[]; readonly rows: number };

// Only pages that have each row of the list once can stand for it, and only if the digest is about as many resources.
function stateOf({ pages, rows }: ReadList, said: RangeState | undefined): string | null {
  return said?.count === rows && rowsIn(pages) === rows ? said.state : null;
}

function rowsIn(pages: readonly CachedPage[]): number {
  return pages.reduce((sum, page) => sum + page.rows.length, 0);
}

function rangesAsBefore(before: CachedList | undefined, state: string | null): CachedList["ranges"] {
  return before !== undefined && before.state === state ? before.ranges : new Map();
}

function digestsOf(rows: Iterable<LiveRow>, digests: WeakMap<LiveRow, string>): RowsRead["digests"] {
  const found = new Map<LiveRow, string>();
  for (const row of rows) {
    const digest = digests.get(row);
    if (digest !== undefined) found.set(row, digest);
  }
  return found;
}

/** Resources that are declared, recorded or named in `alsoRead`, and not known to be in sync with the same manifest and receipt. */
export function resourcesToRead(
  facts: LiveFacts,
  { manifests, recorded, records, alsoRead = [] }: SyncBasis & { readonly alsoRead?: Iterable<Identity> },
): ReadonlySet<Identity> {
  const toRead = new Set(alsoRead);
  let declaredAndRecorded = 0;
  for (const { identity, digest } of manifests) {
    const head = recorded.get(identity);
    if (head !== undefined) declaredAndRecorded += 1;
    const receipt = head?.mark ?? null;
    const record = facts.inSync.get(identity);
    const isRecorded = !records || receipt !== null;
    const isValid = isRecorded && record !== undefined && record.manifest === digest && record.receipt === receipt;
    if (!isValid) toRead.add(identity);
  }
  // Usually everything recorded is declared.
  if (declaredAndRecorded === recorded.size) return toRead;
  const declared = new Set(manifests.map(({ identity }) => identity));
  for (const identity of recorded.keys()) if (!declared.has(identity)) toRead.add(identity);
  return toRead;
}

type Found = {
  readonly row: LiveRow;
  readonly digest: string;
  readonly manifests: ReadonlyMap<Identity, SourceManifest>;
  readonly found: Map<Identity, SyncRecord>;
};

// Most resources are in sync. If that is found while rows are read, the rows need not stay in memory until planning.
function isFoundInSync(kind: Kind, { row, digest, manifests, found }: Found, basis: SyncBasis): boolean {
  const { type, hasVersions } = kind;
  // Only the whole list shows which row a manifest without a version number stands for.
  const identity = hasVersions ? `${type}/${row.key}@${row.version}` : `${type}/${row.key}`;
  const manifest = manifests.get(identity);
  // A manifest that was in sync before is not parsed yet. It is read after live, and only if live has changed.
  if (manifest?.digest === undefined || !isParsed(manifest)) return false;
  const receipt = basis.recorded.get(identity);
  if (!matchesLiveAndReceipt(kind, manifest, row, receipt, basis)) return false;
  found.set(identity, { manifest: manifest.digest, row: digest, receipt: receipt?.mark ?? null });
  return true;
}

// A receipt that equals both the manifest and live is recognised by its digest, without being opened.
function matchesLiveAndReceipt(
  kind: Kind,
  { value }: Manifest,
  { manifest: live, disabledAt }: LiveRow,
  receipt: ReceiptHead | undefined,
  { ledger }: SyncBasis,
): boolean {
  if (disabledAt !== undefined) return false;
  if (receipt === undefined) return isFastEqual(kind, value, live);
  const { mark, digest } = receipt;
  if (mark === undefined || digest === undefined) return false;
  return digest === ledger.digest(contentText({ written: value, returned: live }));
}

// Placeholders for a reply that was recognised by its bytes.
const NOT_PARSED = { list: { data: [], pagination: { total: 1 } }, one: { data: { manifest: {} } } };

// Compares the whole reply, so that the row need not be located in it.
function replyReader(known: string | null, notParsed: JsonObject, digests: WeakMap<LiveRow, string>): ReplyReader {
  let digest = "";
  return {
    parse: (bytes) => {
      digest = contentDigest(bytes);
      return digest === known ? notParsed : null;
    },
    isSame: () => digest === known,
    noteRow: (row) => {
      if (digest !== "") digests.set(row, digest);
    },
  };
}
