import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { preparedQuery } from "../../store/prepared-query.ts";
import { fromText, type JsonText } from "./json-text.ts";
import type { ResourceRow, Tables } from "./tables.ts";

/** The tables of resources. */
type ResourceTable = {
  [Name in keyof Tables]: Tables[Name] extends ResourceRow<unknown> ? Name : never;
}[keyof Tables];

type ResourceOf<Name extends ResourceTable> = Tables[Name]["json"] extends JsonText<infer Value> ? Value : never;

/** Finds the resource with these values in its columns, whoever may see it; null when there is none. */
export function resourceBy<Name extends ResourceTable>(
  table: Name,
  ...columns: readonly (keyof Tables[Name] & string)[]
) {
  const find = textBy(table, ...columns);
  return async (
    database: Kysely<Tables>,
    ...values: readonly (string | number)[]
  ): Promise<ResourceOf<Name> | null> => {
    const text = await find(database, ...values);
    return text === null ? null : fromText(text);
  };
}

/** The same, as JSON text. */
export function textBy<Name extends ResourceTable>(table: Name, ...columns: readonly (keyof Tables[Name] & string)[]) {
  const select = preparedQuery(
    (database: Kysely<Tables>, values: { readonly [at: number]: string | number | undefined }) => {
      const equal = columns.map((column, at) => sql`${sql.ref(column)} = ${values[at]}`);
      return compilable<{ readonly json: JsonText<ResourceOf<Name>> }>(
        sql`SELECT json FROM ${sql.table(table)} WHERE ${sql.join(equal, sql` AND `)}`,
        database,
      );
    },
  );
  return async (
    database: Kysely<Tables>,
    ...values: readonly (string | number)[]
  ): Promise<JsonText<ResourceOf<Name>> | null> => {
    const [row] = await select(database, values);
    return row === undefined ? null : row.json;
  };
}

/** Inserts the row of a resource; for an existing id only these columns are changed. */
export function saveIn<Name extends ResourceTable>(table: Name, ...changing: readonly (keyof Tables[Name] & string)[]) {
  let upsert: ((database: Kysely<Tables>, row: Tables[Name]) => Promise<unknown>) | null = null;
  return async (transaction: Transaction<Tables>, row: Tables[Name]): Promise<void> => {
    // Every row has all columns.
    const columns = Object.keys(row) as readonly (keyof Tables[Name] & string)[];
    upsert ??= preparedQuery((database: Kysely<Tables>, values: Tables[Name]) => {
      const changes = changing.map((column) => sql`${sql.ref(column)} = excluded.${sql.ref(column)}`);
      return compilable(
        sql`INSERT INTO ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
          VALUES (${sql.join(columns.map((column) => values[column]))})
          ON CONFLICT (id) DO UPDATE SET ${sql.join(changes)}`,
        database,
      );
    });
    await upsert(transaction, row);
  };
}

function compilable<Row>(query: RawBuilder<Row>, database: Kysely<Tables>) {
  return { compile: () => query.compile(database) };
}

/** Which of these keys a column has. */
export function keysIn<Name extends ResourceTable>(table: Name, column: keyof Tables[Name] & string) {
  return async (database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> => {
    const key = sql.ref(column);
    const found = sql<{
      readonly key: string;
    }>`SELECT ${key} AS key FROM ${sql.table(table)} WHERE ${key} IN (${sql.join(keys)})`;
    return (await found.execute(database)).rows.map((row) => row.key);
  };
}
