import type { Compilable, CompiledQuery, Kysely } from "kysely";
import { sqliteConnection } from "./sqlite/query-builder.ts";
import { bindValues, placeholders } from "./statement.ts";

/**
 * A query that is compiled once for each database and then run with different values: for frequent queries, since
 * compiling takes longer than running.
 */
export function preparedQuery<Tables, Values extends { readonly [name: string]: unknown }, Row>(
  build: (database: Kysely<Tables>, values: Values) => Compilable<Row>,
): (database: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  const compiled = new WeakMap<object, Run<Tables, Row>>();
  return async (database, values) => {
    // Transactions have the adapter of their database.
    const { adapter } = database.getExecutor();
    const known = compiled.get(adapter);
    if (known !== undefined) return known(database, values);
    const run = runner(database, build(database, placeholders<Values>()).compile());
    compiled.set(adapter, run);
    return run(database, values);
  };
}

type Run<Tables, Row> = (
  database: Kysely<Tables>,
  values: { readonly [name: string]: unknown },
) => readonly Row[] | Promise<readonly Row[]>;

function runner<Tables, Row>(database: Kysely<Tables>, compiled: CompiledQuery<Row>): Run<Tables, Row> {
  const connection = sqliteConnection(database.getExecutor());
  const given = (values: { readonly [name: string]: unknown }) => bindValues(compiled, values);
  if (connection === null) {
    return async (inside, values) => {
      const { rows } = await inside.executeQuery<Row>({ ...compiled, parameters: given(values) });
      return rows;
    };
  }
  // SQLite has one synchronous connection: going through the query builder would take longer than the query.
  const statement = connection.prepare(compiled.sql);
  return (_, values) => {
    if (statement.reader) return statement.all(given(values)) as readonly Row[];
    statement.run(given(values));
    return [];
  };
}
