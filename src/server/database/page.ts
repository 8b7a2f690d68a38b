import { type SelectQueryBuilder, sql } from "kysely";
import type { PageRequest } from "../http/operation-call.ts";
import { checkPageSize } from "../http/reply-size.ts";
import type { JsonText } from "./json-text.ts";

// A row up to this many bytes is read along with its page: a thousand of them are not much.
const SMALL_ROW = 16_384;

/** One page of resources, newest first, and how many there are in all; each is answered with so many bytes besides. */
export async function selectPage<Database, Table extends keyof Database & string, Value>(
  query: SelectQueryBuilder<Database, Table, { json: JsonText<Value> }>,
  wanted: PageRequest,
  bytesBesides = 0,
): Promise<{ readonly rows: readonly JsonText<Value>[]; readonly total: number }> {
  const rows = await selectTextRows<Database, Table, { json: JsonText<Value> }>(
    newestFirst(query, "", wanted),
    { json: "json" },
    { bytesBesides },
  );
  return { rows: rows.map(({ json }) => json), total: await countTotal(query, wanted, rows.length) };
}

type RowOf<Value> = { readonly [column: string]: Value };

/**
 * The rows of a query. Their columns of JSON are named, and where these are together larger than a reply the rows are
 * refused before they are read: callers decide how large a row is, and how many they ask for at once.
 */
export async function selectTextRows<Database, Table extends keyof Database & string, Row extends RowOf<unknown>>(
  query: SelectQueryBuilder<Database, Table, Row>,
  texts: RowOf<string>,
  { others = [], bytesBesides = 0 }: { readonly others?: readonly string[]; readonly bytesBesides?: number } = {},
): Promise<readonly Row[]> {
  const columns = Object.entries(texts);
  const small = await query
    .clearSelect()
    .select(columns.map(([name, column]) => smallText(column).as(name)))
    .select(others.map((name) => sql.ref(name).as(name)))
    .$castTo<Row>()
    .execute();
  if (columns.every(([name]) => small.every((row: RowOf<unknown>) => row[name] !== null))) return small;
  const size = sql.join<number>(
    columns.map(([, column]) => textBytes(column)),
    sql` + `,
  );
  const sizes = await query.clearSelect().select(size.as("size")).$castTo<{ readonly size: number }>().execute();
  checkPageSize(sizes.values().map((row) => Number(row.size) + bytesBesides));
  return query.execute();
}

function smallText(column: string) {
  return sql<string | null>`CASE WHEN ${textBytes(column)} <= ${SMALL_ROW} THEN ${sql.ref(column)} END`;
}

/** The bytes of a column of text; the database tells them without reading it. */
export function textBytes(column: string) {
  return sql<number>`octet_length(${sql.ref(column)})`;
}

/** The rows of one page, in the order of every list. */
export function newestFirst<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  prefix: string,
  { limit, offset }: PageRequest,
): SelectQueryBuilder<Database, Table, Row> {
  return query
    .orderBy(sql.ref(`${prefix}created_at`), "desc")
    .orderBy(sql.ref(`${prefix}id`), "desc")
    .limit(limit)
    .offset(offset);
}

/** How many rows there are in all, when one page of them had `found`. */
export async function countTotal<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  { limit, offset }: PageRequest,
  found: number,
): Promise<number> {
  // The last page knows the total by itself.
  const isLast = found < limit && (found > 0 || offset === 0);
  if (isLast) return offset + found;
  const counted = query.clearSelect().select(({ fn }) => fn.countAll<number>().as("total"));
  const { total } = await counted.$castTo<{ readonly total: number }>().executeTakeFirstOrThrow();
  return Number(total);
}
