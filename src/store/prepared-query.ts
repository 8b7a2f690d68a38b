import { type Compilable, CompiledQuery, type Kysely, type Transaction } from "kysely";
import { sqliteConnection, sqliteRows } from "./sqlite/query-builder.ts";

/** A statement with its values. */
export type Statement = { readonly sql: string; readonly values: readonly unknown[] };

/** Takes the place of a value in a compiled statement. */
type Placeholder = { readonly slot: string };

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

/** Creates a statement that is compiled at its first use and then reused with different values. */
export function statementFactory<Tables, Values extends { readonly [name: string]: unknown }>(
  database: Kysely<Tables>,
  build: (database: Kysely<Tables>, values: Values) => Compilable,
): (values: Values) => Statement {
  let compiled: CompiledQuery | null = null;
  return (values) => {
    compiled ??= build(database, placeholders<Values>()).compile();
    return { sql: compiled.sql, values: bindValues(compiled, values) };
  };
}

/** Runs statements whose rows nobody needs, in their order. */
export async function runStatements<Tables>(
  transaction: Transaction<Tables>,
  statements: readonly Statement[],
): Promise<void> {
  const connection = sqliteConnection(transaction.getExecutor());
  for (const { sql, values } of statements) {
    // On the synchronous connection of SQLite nothing is waited for.
    if (connection === null) await transaction.executeQuery(CompiledQuery.raw(sql, [...values]));
    else connection.prepare(sql).run(values);
  }
}

/** The rows of a query; each row is an array of its columns, which is faster than an object. SQLite reads them one by one. */
export async function rowsOf<Tables, Row extends readonly unknown[]>(
  database: Kysely<Tables>,
  query: Compilable,
): Promise<Iterable<Row>> {
  const compiled = query.compile();
  const rows = sqliteRows(database.getExecutor(), compiled);
  if (rows !== null) return rows as Iterable<Row>;
  const { rows: objects } = await database.executeQuery<object>(compiled);
  // A row has its columns in the order of the query.
  return objects.map((row) => Object.values(row)) as Iterable<unknown> as Iterable<Row>;
}

/** Placeholders with which a statement can be compiled before its values are known. */
function placeholders<Values>(): Values {
  // The query builder passes values on without reading them.
  return new Proxy({}, { get: (_, slot): Placeholder => Object.freeze({ slot: String(slot) }) }) as Values;
}

/** The parameters of a compiled statement, with values in place of placeholders. */
function bindValues(
  { parameters }: CompiledQuery<unknown>,
  values: { readonly [name: string]: unknown },
): readonly unknown[] {
  return parameters.map((parameter) => (isPlaceholder(parameter) ? values[parameter.slot] : parameter));
}

function isPlaceholder(parameter: unknown): parameter is Placeholder {
  return typeof parameter === "object" && parameter !== null && "slot" in parameter;
}

/** Values in the parts in which statements take them: the number of values in one is limited. */
export function* chunks<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}
