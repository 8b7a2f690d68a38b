import { type SelectQueryBuilder, sql } from "kysely";
import type { PageRequest } from "../http/operation-call.ts";
import { checkPageSize } from "../http/reply-size.ts";
import type { JsonText } from "./json-text.ts";

// Rows up to this size are read with their page in one query: a page has at most 1,000 of them.
const SMALL_ROW_BYTES = 16_384;

/** One page of resources, newest first, and their total number; `extraBytes` are added to each row in the reply. */
export async function selectPage<Database, Table extends keyof Database & string, Value>(
  query: SelectQueryBuilder<Database, Table, { json: JsonText<Value> }>,
  wanted: PageRequest,
  extraBytes = 0,
): Promise<{ readonly rows: readonly JsonText<Value>[]; readonly total: number }> {
  const rows = await selectTextRows<Database, Table, { json: JsonText<Value> }>(
    newestFirst(query, "", wanted),
    { json: "json" },
    { extraBytes },
  );
  return { rows: rows.map(({ json }) => json), total: await countTotal(query, wanted, rows.length) };
}

type RowOf<Value> = { readonly [column: string]: Value };

/**
 * The rows of a query with their JSON columns. When these together are larger than a reply, the query is refused before
 * they are read: clients control the size and number of rows.
 */
export async function selectTextRows<Database, Table extends keyof Database & string, Row extends RowOf<unknown>>(
  query: SelectQueryBuilder<Database, Table, Row>,
  texts: RowOf<string>,
  { others = [], extraBytes = 0 }: { readonly others?: readonly string[]; readonly extraBytes?: number } = {},
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
  checkPageSize(sizes.values().map((row) => Number(row.size) + extraBytes));
  return query.execute();
}

function smallText(column: string) {
  return sql<string | null>`CASE WHEN ${textBytes(column)} <= ${SMALL_ROW_BYTES} THEN ${sql.ref(column)} END`;
}

/** The size of a text column in bytes, computed without reading its value. */
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

/** The total number of rows, when the page has `found` of them. */
export async function countTotal<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  { limit, offset }: PageRequest,
  found: number,
): Promise<number> {
  // On the last page the total follows from the offset.
  const isLast = found < limit && (found > 0 || offset === 0);
  if (isLast) return offset + found;
  return countRows(query);
}

/** The number of rows of a query. */
export async function countRows<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
): Promise<number> {
  const counted = query.clearSelect().select(({ fn }) => fn.countAll<number>().as("total"));
  const { total } = await counted.$castTo<{ readonly total: number }>().executeTakeFirstOrThrow();
  return Number(total);
}
