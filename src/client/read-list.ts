import { isObject, text } from "../contract/json.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import type { Page } from "./read-envelope.ts";

/** Reads one page; `oversize` if it exceeds the size limit of a reply. */
export type PageReader<Row> = (span: PageRange) => Promise<Page<Row> | "oversize">;

/** The range of rows in one page. */
export type PageRange = { readonly offset: number; readonly limit: number };

/** The result of reading a whole list. */
export type Listing<Row> =
  /** Every row exactly once. */
  | { readonly state: "complete"; readonly rows: readonly Row[]; readonly limit: number }
  /** The server's list contradicts its own `total`, or is longer than the limit. */
  | { readonly state: "inconsistent"; readonly fault: string }
  /** A single row exceeds the size limit of a reply. */
  | { readonly state: "oversize" };

const PARALLEL = 4;
const PASSES = 4;
const MOVED_READS = 4;
const STALE_PAGES = 4;
const MAX_PAGES = 20_000;
const MAX_ROWS = 2_000_000;

/**
 * Reads a whole list even if rows move between its pages. Rows are identified by their id, and the list is read again
 * only while it returns fewer rows than its own `total`, or its totals differ.
 */
export async function readList<Row>(
  read: PageReader<Row>,
  { limit }: { readonly limit: number },
): Promise<Listing<Row>> {
  let size = limit;
  for (let pass = 1; ; pass += 1) {
    const walked = await walk(read, size);
    if (walked.state !== "walked") return walked;
    size = walked.limit;
    const { pages } = walked;
    const totals = pages.map(({ total }) => total);
    // The total of the last page is the newest one.
    const total = totals.at(-1) ?? 0;
    const rows = eachOnce(pages);
    const count = rows.length;
    const isSteady = new Set(totals).size === 1;
    if (count >= total && (isSteady || pass === PASSES)) return { state: "complete", rows, limit: size };
    if (pass === PASSES) return withMoved(read, rows, walked);
  }
}

// A list that others add to all the time never stays the same for a whole walk. Since the newest rows come first, what was added
// meanwhile is on its first page, and what that moved on is behind its last one.
async function withMoved<Row>(
  read: PageReader<Row>,
  walkedRows: readonly Row[],
  { pages, limit }: Walked<Row>,
): Promise<Listing<Row>> {
  let rows = walkedRows;
  let total = 0;
  const step = pages[0]?.rows.length ?? limit;
  for (let nth = 0; nth < MOVED_READS; nth += 1) {
    const behind = await readSpan(read, { offset: (pages.length + nth) * step, limit });
    const first = behind === null ? null : await readSpan(read, { offset: 0, limit });
    if (behind === null || first === null) return { state: "oversize" };
    ({ total } = first);
    rows = eachOnce([first, { rows, total }, behind]);
    if (rows.length >= total) return { state: "complete", rows, limit };
  }
  return { state: "inconsistent", fault: `reports ${total} rows and returns ${rows.length} distinct ones` };
}

function eachOnce<Row>(pages: readonly Page<Row>[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const page of pages) for (const row of page.rows) rows.set(rowId(row), row);
  return [...rows.values()];
}

type Walked<Row> = { readonly state: "walked"; readonly pages: readonly Page<Row>[]; readonly limit: number };

type Failed = Exclude<Listing<never>, { readonly state: "complete" }>;

async function walk<Row>(read: PageReader<Row>, limit: number): Promise<Walked<Row> | Failed> {
  const first = await readFirst(read, limit);
  if (first === null) return { state: "oversize" };
  // A server may return fewer or more rows than requested. The number on the first page holds for all pages.
  const step = first.page.rows.length;
  const count = step === 0 ? 0 : Math.ceil(first.page.total / step);
  if (count > MAX_PAGES || first.page.total > MAX_ROWS) {
    return { state: "inconsistent", fault: `reports ${first.page.total} rows, which exceeds the limit of a list` };
  }
  const offsets = Array.from({ length: Math.max(0, count - 1) }, (_, index) => (index + 1) * step);
  const rest = await readRest(read, first.page, { offsets, limit: Math.min(step, first.limit) });
  if (rest === null) return { state: "oversize" };
  return { state: "walked", pages: [first.page, ...rest], limit: first.limit };
}

// Reads the other pages, some in parallel; stops early after several pages without new rows.
async function readRest<Row>(
  read: PageReader<Row>,
  first: Page<Row>,
  { offsets, limit }: { readonly offsets: readonly number[]; readonly limit: number },
): Promise<readonly Page<Row>[] | null> {
  const pages: (Page<Row> | undefined)[] = [];
  const seen = new Set<string>();
  show(first, seen);
  let stale = 0;
  let oversize = false;
  const readAt = async ([index, offset]: readonly [number, number]): Promise<void> => {
    if (oversize || stale >= STALE_PAGES) return;
    const page = await readSpan(read, { offset, limit });
    if (page === null) {
      oversize = true;
      return;
    }
    const before = seen.size;
    show(page, seen);
    if (seen.size === before) stale += 1;
    pages[index] = page;
  };
  // This limit is separate from the reader's limit for all lists: a list that ends early must not request all its pages.
  await forEachConcurrently([...offsets.entries()], PARALLEL, readAt);
  return oversize ? null : pages.filter((page) => page !== undefined);
}

function show(page: Page<unknown>, seen: Set<string>): void {
  for (const row of page.rows) seen.add(rowId(row));
}

async function readFirst<Row>(
  read: PageReader<Row>,
  limit: number,
): Promise<{ readonly page: Page<Row>; readonly limit: number } | null> {
  const page = await read({ offset: 0, limit });
  if (page !== "oversize") return { page, limit };
  return limit === 1 ? null : readFirst(read, Math.ceil(limit / 2));
}

async function readSpan<Row>(read: PageReader<Row>, { offset, limit }: PageRange): Promise<Page<Row> | null> {
  const page = await read({ offset, limit });
  if (page !== "oversize") return page;
  if (limit === 1) return null;
  const half = Math.ceil(limit / 2);
  const front = await readSpan(read, { offset, limit: half });
  const back = front === null ? null : await readSpan(read, { offset: offset + half, limit: limit - half });
  return front === null || back === null ? null : { rows: [...front.rows, ...back.rows], total: back.total };
}

/** The value that identifies a row in its list: its id, or a unique name, since addons and job runs have no id. */
export function rowId(row: unknown): string {
  if (!isObject(row)) return JSON.stringify(row);
  return text(row.id) || text(row.fqn) || text(row.name) || JSON.stringify(row);
}
