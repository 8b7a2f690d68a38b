import type { BodyParser } from "../client/decode-body.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/manifest-shape.ts";
import { isFastEqual } from "../core/decide/decide.ts";
import type { Kind, ListReading, LiveRow } from "../core/kind.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import { isParsed, type SourceManifest } from "../manifests/source-manifest.ts";
import type { Ledger, ReceiptHead } from "../state/ledger.ts";
import { contentText } from "../state/receipt-digest.ts";
import { createListReader, type ListReader } from "./list-reader.ts";
import type { LiveFacts, SyncRecord } from "./live-facts.ts";
import { type CachedPage, rowDigest } from "./unparsed-row.ts";

/** What decides whether a resource is in sync, besides live. */
export type SyncBasis = {
  readonly manifests: readonly SourceManifest[];
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Whether what is in sync must be recorded too. */
  readonly records: boolean;
  readonly shapeOf: (type: string) => Shape;
  readonly ledger: Pick<Ledger, "digest">;
};

/** What one pass knows of live from earlier passes, and what it adds. */
export type KnownInSync = {
  /** Reads the list of a kind; with `all`, every row of it. */
  readonly listReader: (kind: Kind, list: ListReading, options?: { readonly all?: boolean }) => ListReader;
  /** Reads a reply that shows one resource; `isSame` tells whether it was recognised as in sync and not parsed. */
  readonly replyReader: (identity: Identity, reply: keyof typeof NOT_PARSED) => ReplyReader;
  /** Whether a resource is in sync by a row with this digest; what is not declared is, as long as it is there. */
  readonly isInSync: (identity: Identity, row: string) => boolean;
  /** Whether the manifest says what its receipt says was written, where live cannot be read. */
  readonly isAsRecorded: (identity: Identity) => boolean;
  /** The digest of the bytes that a row was read from. */
  readonly digestOf: (row: LiveRow) => string | undefined;
  /** What was found in sync while rows were read. */
  readonly found: ReadonlyMap<Identity, SyncRecord>;
  /** The lists that were read to their end, by kind. */
  readonly lists: ReadonlyMap<string, readonly CachedPage[]>;
};

/** Reads one reply. */
export type ReplyReader = {
  readonly parse: BodyParser;
  readonly isSame: () => boolean;
  /** Notes which row was read from the reply. */
  readonly noteRow: (row: LiveRow) => void;
};

/** The results of earlier passes that still hold: those whose manifest and receipt have not changed. */
export function knownInSync(facts: LiveFacts, open: ReadonlySet<Identity>, basis: SyncBasis): KnownInSync {
  const manifests = new Map(basis.manifests.map((manifest) => [manifest.identity, manifest]));
  const recordOf = (identity: Identity): SyncRecord | undefined =>
    manifests.has(identity) && !open.has(identity) ? facts.inSync.get(identity) : undefined;
  const found = new Map<Identity, SyncRecord>();
  const lists = new Map<string, readonly CachedPage[]>();
  const digests = new WeakMap<LiveRow, string>();
  return {
    found,
    lists,
    digestOf: (row) => digests.get(row),
    isInSync: (identity, row) =>
      !manifests.has(identity) || recordOf(identity)?.row === row || found.get(identity)?.row === row,
    isAsRecorded: (identity) => recordOf(identity)?.row === null,
    listReader: (kind, list, { all = false } = {}) =>
      createListReader(kind, list, {
        pages: all ? [] : (facts.lists.get(kind.type) ?? []),
        mustRead: (identity) => open.has(identity),
        isInSync: (row, digest) => !basis.records && isFoundInSync(kind, { row, digest, manifests, found }, basis),
        noteRow: (row, digest) => digests.set(row, digest),
        noteList: (pages) => lists.set(kind.type, pages),
      }),
    replyReader: (identity, reply) => replyReader(recordOf(identity)?.row ?? null, NOT_PARSED[reply], digests),
  };
}

/** What is declared or recorded, and is not known to have been in sync with the same manifest and receipt. */
export function notKnownInSync(
  facts: LiveFacts,
  { manifests, recorded, records }: Pick<SyncBasis, "manifests" | "recorded" | "records">,
): ReadonlySet<Identity> {
  const open = new Set<Identity>();
  const declared = new Set(manifests.map(({ identity }) => identity));
  for (const { identity, digest } of manifests) {
    const receipt = recorded.get(identity)?.mark ?? null;
    const record = facts.inSync.get(identity);
    const isRecorded = !records || receipt !== null;
    const holds = isRecorded && record !== undefined && record.manifest === digest && record.receipt === receipt;
    if (!holds) open.add(identity);
  }
  for (const identity of recorded.keys()) if (!declared.has(identity)) open.add(identity);
  return open;
}

type Found = {
  readonly row: LiveRow;
  readonly digest: string;
  readonly manifests: ReadonlyMap<Identity, SourceManifest>;
  readonly found: Map<Identity, SyncRecord>;
};

// Most resources are in sync: those found so while rows are read need not be kept in memory until the plan is made.
function isFoundInSync(kind: Kind, { row, digest, manifests, found }: Found, basis: SyncBasis): boolean {
  const { type, hasVersions } = kind;
  // Which row a manifest without a number stands for only the whole list tells.
  const identity = hasVersions ? `${type}/${row.key}@${row.version}` : `${type}/${row.key}`;
  const manifest = manifests.get(identity);
  // What was in sync is read after live, and only where live has changed.
  if (manifest?.digest === undefined || !isParsed(manifest)) return false;
  const receipt = basis.recorded.get(identity);
  if (!saysTheSame(kind, manifest, row, receipt, basis)) return false;
  found.set(identity, { manifest: manifest.digest, row: digest, receipt: receipt?.mark ?? null });
  return true;
}

// A receipt that says exactly what is declared and live is recognised without being opened.
function saysTheSame(
  kind: Kind,
  { value }: Manifest,
  { manifest: live }: LiveRow,
  receipt: ReceiptHead | undefined,
  { shapeOf, ledger }: SyncBasis,
): boolean {
  if (receipt === undefined) return isFastEqual(kind, shapeOf(kind.type), value, live);
  const { mark, digest } = receipt;
  if (mark === undefined || digest === undefined) return false;
  return digest === ledger.digest(contentText({ written: value, echo: live }));
}

// Stand for a reply that was recognised by its bytes.
const NOT_PARSED = { list: { data: [], pagination: { total: 1 } }, one: { data: { manifest: {} } } };

// By the whole reply: nobody has to find out where in it the row begins.
function replyReader(known: string | null, notParsed: JsonObject, digests: WeakMap<LiveRow, string>): ReplyReader {
  let digest = "";
  return {
    parse: (bytes) => {
      digest = rowDigest(bytes);
      return digest === known ? notParsed : null;
    },
    isSame: () => digest === known,
    noteRow: (row) => {
      if (digest !== "") digests.set(row, digest);
    },
  };
}
