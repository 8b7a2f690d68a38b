import { type SelectQueryBuilder, sql } from "kysely";
import type { Page } from "../call.ts";
import type { JsonText } from "../json-text.ts";

/** One page of resources, newest first, and how many there are in all. */
export async function page<Database, Table extends keyof Database & string, Value>(
  query: SelectQueryBuilder<Database, Table, { json: JsonText<Value> }>,
  wanted: Page,
): Promise<{ readonly rows: readonly JsonText<Value>[]; readonly total: number }> {
  const { rows, total } = await pageOfRows(query, "", wanted);
  return { rows: rows.map(({ json }) => json), total };
}

/** The same with rows as they were selected; `prefix` (`table.`) names the table whose order counts. */
export async function pageOfRows<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  prefix: string,
  wanted: Page,
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const rows: readonly Row[] = await newestFirst(query, prefix, wanted).$castTo<Row>().execute();
  return { rows, total: await totalOf(query, wanted, rows.length) };
}

/** The rows of one page, in the order of every list. */
export function newestFirst<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  prefix: string,
  { limit, offset }: Page,
): SelectQueryBuilder<Database, Table, Row> {
  return query
    .orderBy(sql.ref(`${prefix}created_at`), "desc")
    .orderBy(sql.ref(`${prefix}id`), "desc")
    .limit(limit)
    .offset(offset);
}

/** How many rows there are in all, when one page of them had `found`. */
export async function totalOf<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
  { limit, offset }: Page,
  found: number,
): Promise<number> {
  // The last page knows the total by itself.
  const isLast = found < limit && (found > 0 || offset === 0);
  if (isLast) return offset + found;
  const counted = query.clearSelect().select(({ fn }) => fn.countAll<number>().as("total"));
  const { total } = await counted.$castTo<{ readonly total: number }>().executeTakeFirstOrThrow();
  return Number(total);
}
