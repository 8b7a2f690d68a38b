import type { BodyParser } from "../client/decode-body.ts";
import { rowId } from "../client/read-list.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import { readPageRows } from "./read-page-rows.ts";
import { type CachedPage, rowDigest, UnparsedRow } from "./unparsed-row.ts";

/** Reads a list, but for the rows that are known and need not be read. */
export type ListReader = {
  /** Recognises pages and rows by their bytes, and parses the others. */
  readonly parse: BodyParser;
  /** Replaces a row of which no more is needed. */
  readonly condense: (row: unknown) => unknown;
  /** What a row of the list shows; null where it is none of the kind's. */
  readonly rowOf: (reply: unknown) => ListedRow | null;
  /** Takes note that the list was read to its end. */
  readonly end: () => void;
};

/** A row as its list shows it. */
export type ListedRow = {
  readonly key: string;
  readonly version: number | null;
  /** Null where it was recognised and not parsed. */
  readonly row: LiveRow | null;
  /** Of its bytes; empty where it was read without one. */
  readonly digest: string;
};

/** What reading a list goes by. */
export type ListKnowledge = {
  /** Pages that were read earlier. */
  readonly pages: readonly CachedPage[];
  /** Whether the rows of a resource have to be read. */
  readonly mustRead: (identity: Identity) => boolean;
  /** Whether a row that was just read is surely what its manifest says, so that no more of it is needed. */
  readonly isInSync: (row: LiveRow, digest: string) => boolean;
  readonly noteRow: (row: LiveRow, digest: string) => void;
  /** Told the pages of the list once it was read to its end. */
  readonly noteList: (pages: readonly CachedPage[]) => void;
};

/** A reader of the list of a kind. */
export function createListReader(kind: Kind, list: ListReading, on: ListKnowledge): ListReader {
  const known = new Map(on.pages.map((page) => [page.digest, page]));
  const rows = knownRows(on.pages);
  const isReusable = reusableRows(kind, on);
  const parsed = new Map<unknown, ParsedRow>();
  const read = new Map<string, CachedPage>();
  const parseRow = (bytes: Buffer, seen: UnparsedRow[]): JsonObject => {
    const digest = rowDigest(bytes);
    const before = rows().get(digest);
    if (before !== undefined && isReusable(before)) {
      seen.push(before);
      return before;
    }
    const reply: JsonObject = JSON.parse(bytes.toString("utf8"));
    const row = liveRow(list, reply);
    if (row === undefined) return reply;
    const unparsed = new UnparsedRow(digest, rowId(reply), row?.key ?? null, row?.version ?? null);
    seen.push(unparsed);
    parsed.set(reply, { row, unparsed });
    return reply;
  };
  const condense = (reply: unknown): unknown => {
    const { row = null, unparsed = null } = parsed.get(reply) ?? {};
    if (row === null || unparsed === null || !on.isInSync(row, unparsed.digest)) return reply;
    parsed.delete(reply);
    return unparsed;
  };
  return {
    parse: (bytes, maxDepth) => {
      const digest = rowDigest(bytes);
      const before = known.get(digest);
      if (before?.rows.every(isReusable)) {
        read.set(digest, before);
        return { data: before.rows, pagination: { total: before.total } };
      }
      const seen: UnparsedRow[] = [];
      const page = readPageRows(bytes, maxDepth, (each) => parseRow(each, seen));
      const total = page === null ? null : totalOf(page);
      if (page?.data.length === seen.length && total !== null) read.set(digest, { digest, total, rows: seen });
      return page;
    },
    condense,
    rowOf: (reply) => {
      if (reply instanceof UnparsedRow) return listedRow(reply);
      const { row, unparsed } = parsed.get(reply) ?? { row: readRow(list, reply), unparsed: null };
      if (row === null) return null;
      const digest = unparsed?.digest ?? "";
      if (digest !== "") on.noteRow(row, digest);
      return { key: row.key, version: row.version ?? null, row, digest };
    },
    end: () => on.noteList([...read.values()]),
  };
}

/** What was read from a reply, and what stands for it where no more of it is needed. */
type ParsedRow = { readonly row: LiveRow | null; readonly unparsed: UnparsedRow };

// Only where some page has changed is a row looked for.
function knownRows(pages: readonly CachedPage[]): () => ReadonlyMap<string, UnparsedRow> {
  let rows: ReadonlyMap<string, UnparsedRow> | null = null;
  return () => {
    rows ??= new Map(pages.flatMap((page) => page.rows.map((row) => [row.digest, row] as const)));
    return rows;
  };
}

function reusableRows({ type, hasVersions }: Kind, { mustRead }: ListKnowledge): (row: UnparsedRow) => boolean {
  return ({ key, version }) => {
    if (key === null) return true;
    if (mustRead(`${type}/${key}`)) return false;
    return !hasVersions || !mustRead(`${type}/${key}@${version}`);
  };
}

function listedRow({ key, version, digest }: UnparsedRow): ListedRow | null {
  return key === null ? null : { key, version, row: null, digest };
}

function totalOf({ pagination }: JsonObject): Json {
  return isObject(pagination) ? (pagination.total ?? null) : null;
}

// A row that cannot be read is for those to refuse who read them all.
function liveRow(list: ListReading, reply: JsonObject): LiveRow | null | undefined {
  try {
    return readRow(list, reply);
  } catch {
    return undefined;
  }
}
