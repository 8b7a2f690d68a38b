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
  { limit, offset }: Page,
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const rows = await query
    .orderBy(sql.ref(`${prefix}created_at`), "desc")
    .orderBy(sql.ref(`${prefix}id`), "desc")
    .limit(limit)
    .offset(offset)
    .$castTo<Row>()
    .execute();
  // The last page knows the total by itself.
  const isLast = rows.length < limit && (rows.length > 0 || offset === 0);
  return { rows: rows as readonly Row[], total: isLast ? offset + rows.length : await count(query) };
}

async function count<Database, Table extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Table, Row>,
): Promise<number> {
  const counted = query.clearSelect().select(({ fn }) => fn.countAll<number>().as("total"));
  const { total } = await counted.$castTo<{ readonly total: number }>().executeTakeFirstOrThrow();
  return Number(total);
}
