import type { Compilable, CompiledQuery, Kysely } from "kysely";
import { sqliteConnection } from "./sqlite.ts";
import { bindValues, placeholders } from "./statement.ts";

/**
 * A statement that is put together once for each database and then run with other values each time: for what is asked
 * so often that putting it together would cost more than running it.
 */
export function preparedQuery<Tables, Values extends { readonly [name: string]: unknown }, Row>(
  build: (database: Kysely<Tables>, values: Values) => Compilable<Row>,
): (database: Kysely<Tables>, values: Values) => Promise<readonly Row[]> {
  const ready = new WeakMap<object, Run<Tables, Row>>();
  return async (database, values) => {
    // Transactions share it with the database that they belong to.
    const { adapter } = database.getExecutor();
    const known = ready.get(adapter);
    if (known !== undefined) return known(database, values);
    const run = runner(database, build(database, placeholders<Values>()).compile());
    ready.set(adapter, run);
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
  // There is one connection and it answers at once: the query builder's way to it would cost more than the answer.
  const statement = connection.prepare(compiled.sql);
  return (_, values) => {
    if (statement.reader) return statement.all(given(values)) as readonly Row[];
    statement.run(given(values));
    return [];
  };
}
