import type { Json } from "../contract/json.ts";
import { textPool } from "../contract/text-pool.ts";
import type { Identity } from "../core/manifest.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import { jsonArrayChunks } from "./json-array-chunks.ts";
import { type CachedPage, UnparsedRow } from "./unparsed-row.ts";

/** A manifest, a receipt and a row of live that were found equal, each by the digest of its content. */
export type SyncRecord = {
  /** Digest of what declares the manifest. */
  readonly manifest: string;
  /** Mark of the receipt; null where there was none. */
  readonly receipt: string | null;
  /** Digest of the row; null where live cannot be read. */
  readonly row: string | null;
};

/** What earlier passes learned of a control plane; it holds as long as the contents do not change. */
export type LiveFacts = {
  readonly inSync: ReadonlyMap<Identity, SyncRecord>;
  /** The pages of each kind's list. */
  readonly lists: ReadonlyMap<string, readonly CachedPage[]>;
};

/** Where nothing is known. */
export const NO_LIVE_FACTS: LiveFacts = { inSync: new Map(), lists: new Map() };

type Written = {
  readonly inSync: readonly (readonly [
    identity: Identity,
    manifest: string,
    receipt: string | null,
    row: string | null,
  ])[];
  readonly lists: readonly (readonly [kind: string, pages: readonly WrittenPage[]])[];
};

type WrittenPage = readonly [digest: string, total: Json, rows: readonly WrittenRow[]];

type WrittenRow = readonly [digest: string, id: string, key: string | null, version: number | null];

/** Writes the facts as text, in pieces, since the whole may need as much memory as the rest of a run. */
export function* writeLiveFacts({ inSync, lists }: LiveFacts): Generator<string> {
  yield '{"inSync":[';
  yield* jsonArrayChunks(inSync, ([identity, { manifest, receipt, row }]) => [identity, manifest, receipt, row]);
  yield '],"lists":[';
  yield* jsonArrayChunks(lists, ([kind, pages]) => [kind, pages.map(writtenPage)]);
  yield "]}";
}

function writtenPage({ digest, total, rows }: CachedPage): WrittenPage {
  return [digest, total, rows.map((row): WrittenRow => [row.digest, row.id, row.key, row.version])];
}

/** Reads what `writeLiveFacts` wrote; texts that receipts hold too are taken from them. */
export function readLiveFacts(text: string, recorded: ReadonlyMap<Identity, ReceiptHead>): LiveFacts {
  const { inSync, lists }: Written = JSON.parse(text);
  const pool = textPool();
  return {
    lists: new Map(lists.map(([kind, pages]) => [kind, pages.map((page) => readPage(page, pool))])),
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
