import type { Json, JsonObject } from "../contract/json.ts";
import { textPool } from "../contract/text-pool.ts";
import type { Identity } from "../core/manifest.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import { jsonArrayChunks } from "./json-array-chunks.ts";

/** A manifest, a receipt and a live row that were found equal, each by the digest of its content. */
export type SyncRecord = {
  /** Digest of the document that declares the manifest. */
  readonly manifest: string;
  /** Mark of the receipt; null if there was none. */
  readonly receipt: string | null;
  /** Digest of the row; null if live cannot be read. */
  readonly row: string | null;
};

/** What earlier passes learned about a control plane. Each fact is valid as long as the digests match. */
export type LiveFacts = {
  readonly inSync: ReadonlyMap<Identity, SyncRecord>;
  readonly lists: ReadonlyMap<string, CachedList>;
};

/** The list of a kind, as it was read. */
export type CachedList = {
  /** The ranges that it was narrowed to, by how the keys in them begin; empty for the whole list. */
  readonly within: readonly string[];
  readonly pages: readonly CachedPage[];
  /** What the control plane said of the kind just before (`RangeState`); null if the pages are not known to be all of it. */
  readonly state: string | null;
  /** The same of the ranges within the kind, as far as they were asked for. */
  readonly ranges: ReadonlyMap<string, string>;
};

/** No facts. */
export const NO_LIVE_FACTS: LiveFacts = { inSync: new Map(), lists: new Map() };

type Written = {
  readonly inSync: readonly (readonly [
    identity: Identity,
    manifest: string,
    receipt: string | null,
    row: string | null,
  ])[];
  readonly lists: readonly WrittenList[];
};

type WrittenList = readonly [
  kind: string,
  within: readonly string[],
  state: string | null,
  ranges: readonly (readonly [prefix: string, state: string])[],
  pages: readonly WrittenPage[],
];

type WrittenPage = readonly [digest: string, total: Json, rows: readonly WrittenRow[]];

type WrittenRow = readonly [digest: string, id: string, key: string | null, version: number | null];

/** Writes the facts as text, in chunks: the whole text may need as much memory as the rest of a run. */
export function* writeLiveFacts({ inSync, lists }: LiveFacts): Generator<string> {
  yield '{"inSync":[';
  yield* jsonArrayChunks(inSync, ([identity, { manifest, receipt, row }]) => [identity, manifest, receipt, row]);
  yield '],"lists":[';
  yield* jsonArrayChunks(lists, ([kind, { within, state, ranges, pages }]) => [
    kind,
    within,
    state,
    [...ranges],
    pages.map(writtenPage),
  ]);
  yield "]}";
}

function writtenPage({ digest, total, rows }: CachedPage): WrittenPage {
  return [digest, total, rows.map((row): WrittenRow => [row.digest, row.id, row.key, row.version])];
}

/** Reads what `writeLiveFacts` wrote. Strings that the receipts already hold are shared with them, to save memory. */
export function readLiveFacts(text: string, recorded: ReadonlyMap<Identity, ReceiptHead>): LiveFacts {
  const { inSync, lists }: Written = JSON.parse(text);
  const pool = textPool();
  return {
    lists: new Map(
      lists.map(([kind, within, state, ranges, pages]) => {
        return [kind, { within, state, ranges: new Map(ranges), pages: pages.map((page) => readPage(page, pool)) }];
      }),
    ),
    inSync: new Map(
      inSync.map(([identity, manifest, receipt, row]) => {
        const head = recorded.get(identity);
        const mark = head?.mark === receipt ? head.mark : receipt;
        return [head?.identity ?? identity, { manifest, receipt: mark, row: row && pool(row) }];
      }),
    ),
  };
}

function readPage([digest, total, rows]: WrittenPage, pool: ReturnType<typeof textPool>): CachedPage {
  return { digest, total, rows: rows.map(([row, id, key, version]) => new UnparsedRow(pool(row), id, key, version)) };
}

const NO_MANIFEST: JsonObject = {};

/**
 * A row of a list that was recognised by its bytes and not parsed. It takes the place of the row in a reply. It is a
 * class, so that it cannot be confused with a row that a server sent.
 */
export class UnparsedRow {
  readonly [field: string]: Json;
  readonly digest: string;
  /** Its unique id in the list. */
  readonly id: string;
  /** The key part of its identity; null if the row belongs to another kind. */
  readonly key: string | null;
  readonly version: number | null;
  readonly manifest = NO_MANIFEST;

  constructor(digest: string, id: string, key: string | null, version: number | null) {
    this.digest = digest;
    this.id = id;
    this.key = key;
    this.version = version;
  }
}

/** A page of a list that was read, by the digest of its bytes. */
export type CachedPage = {
  readonly digest: string;
  /** The number of rows in the whole list, as the page states it. */
  readonly total: Json;
  readonly rows: readonly UnparsedRow[];
};
