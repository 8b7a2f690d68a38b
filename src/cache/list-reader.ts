import type { BodyParser } from "../client/decode-body.ts";
import { rowId } from "../client/read-list.ts";
import { contentDigest } from "../contract/content-digest.ts";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { type Kind, type ListReading, type LiveRow, readRow } from "../core/kind.ts";
import type { Identity } from "../core/manifest.ts";
import { type CachedPage, UnparsedRow } from "./live-facts.ts";
import { readPageRows } from "./read-page-rows.ts";

/** Reads a list without parsing the rows that are known and need not be read. */
export type ListReader = {
  /** Recognises pages and rows by their bytes, and parses the others. */
  readonly parse: BodyParser;
  /** Replaces a parsed row that is no longer needed by an unparsed one, to save memory. */
  readonly condense: (row: unknown) => unknown;
  /** What a row of the list shows; null if it belongs to another kind. */
  readonly rowOf: (reply: unknown) => ListedRow | null;
  /** Must be called once the list was read completely, with the number of its rows. */
  readonly end: (rows: number) => void;
  /** Must be called once all rows with such keys were read again, in a list of which nothing else has changed. */
  readonly endPart: (isRead: (key: string) => boolean) => void;
};

/** A row as its list shows it. */
export type ListedRow = {
  readonly key: string;
  readonly version: number | null;
  /** Null if it was recognised and not parsed. */
  readonly row: LiveRow | null;
  /** Digest of its bytes; empty if the row was read without one. */
  readonly digest: string;
};

/** What is known about a list, and where to note what is read. */
export type KnownList = {
  /** Pages that were read in an earlier pass. */
  readonly pages: readonly CachedPage[];
  /** Whether the rows of a resource must be parsed. */
  readonly mustRead: (identity: Identity) => boolean;
  /** Whether a row that was just read certainly equals its manifest, so that it can be dropped. */
  readonly isInSync: (row: LiveRow, digest: string) => boolean;
  readonly noteRow: (row: LiveRow, digest: string) => void;
  /** Called with the pages of the list and the number of its rows once it was read completely. */
  readonly noteList: (pages: readonly CachedPage[], rows: number) => void;
};

/** A list that is known without reading it. */
export type KnownRows = {
  readonly rows: readonly ListedRow[];
  /** The keys of which rows must be read again all the same. */
  readonly toRead: ReadonlySet<string>;
};

/** The rows of a list that has not changed since these pages were read. */
export function knownRowsOf(
  kind: Kind,
  pages: readonly CachedPage[],
  mustRead: (identity: Identity) => boolean,
): KnownRows {
  const isReusable = reusableRows(kind, mustRead);
  const toRead = new Set<string>();
  const rows = pages.flatMap((page) =>
    page.rows.flatMap((row) => {
      if (row.key !== null && !isReusable(row)) toRead.add(row.key);
      return listedRow(row) ?? [];
    }),
  );
  return { rows, toRead };
}

/** Creates a reader for the list of a kind. */
export function createListReader(kind: Kind, list: ListReading, options: KnownList): ListReader {
  const known = new Map(options.pages.map((page) => [page.digest, page]));
  const rows = knownRows(options.pages);
  const isReusable = reusableRows(kind, options.mustRead);
  const parsed = new Map<unknown, { readonly row: LiveRow | null; readonly unparsed: UnparsedRow }>();
  const read = new Map<string, CachedPage>();
  const parseRow = (bytes: Buffer, seen: UnparsedRow[]): JsonObject => {
    const digest = contentDigest(bytes);
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
    if (row === null || unparsed === null || !options.isInSync(row, unparsed.digest)) return reply;
    parsed.delete(reply);
    return unparsed;
  };
  return {
    parse: (bytes, maxDepth) => {
      const digest = contentDigest(bytes);
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
      if (digest !== "") options.noteRow(row, digest);
      return { key: row.key, version: row.version ?? null, row, digest };
    },
    end: (count) => options.noteList([...read.values()], count),
    endPart: (isRead) => {
      const isPart = ({ key }: UnparsedRow): boolean => key !== null && isRead(key);
      const again = [...read.values()].flatMap((page) => page.rows.filter(isPart));
      const before = options.pages.flatMap((page) => page.rows.filter(isPart));
      const isSame = before.length === again.length && again.every(({ digest }) => rows().has(digest));
      const pages = isSame ? options.pages : withPart(options.pages, isPart, again);
      options.noteList(
        pages,
        pages.reduce((sum, page) => sum + page.rows.length, 0),
      );
    },
  };
}

// Only pages with such rows are no longer what a server has sent.
function withPart(
  pages: readonly CachedPage[],
  isPart: (row: UnparsedRow) => boolean,
  again: readonly UnparsedRow[],
): readonly CachedPage[] {
  const others = pages.map((page) =>
    page.rows.some(isPart) ? madePage(page.rows.filter((row) => !isPart(row))) : page,
  );
  return again.length === 0 ? others : [...others, madePage(again)];
}

// A page that no server has sent, so that its digest is that of no bytes.
function madePage(rows: readonly UnparsedRow[]): CachedPage {
  return { digest: contentDigest(rows.map(({ digest }) => digest).join()), total: null, rows };
}

// Built on first use: rows are looked up only if some page has changed.
function knownRows(pages: readonly CachedPage[]): () => ReadonlyMap<string, UnparsedRow> {
  let rows: ReadonlyMap<string, UnparsedRow> | null = null;
  return () => {
    rows ??= new Map(pages.flatMap((page) => page.rows.map((row) => [row.digest, row] as const)));
    return rows;
  };
}

function reusableRows({ type, hasVersions }: Kind, mustRead: KnownList["mustRead"]): (row: UnparsedRow) => boolean {
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

// A row that cannot be read is refused later, by the code that reads all rows.
function liveRow(list: ListReading, reply: JsonObject): LiveRow | null | undefined {
  try {
    return readRow(list, reply);
  } catch {
    return undefined;
  }
}
