import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type CompiledQuery, Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { type SqliteUse, stayingOpen } from "./reopening-connection.ts";

const MAX_STATEMENTS = 500;
// Another process may write too. A deferred transaction that reads first and writes later could fail because its
// snapshot is outdated.
const BEGIN = "begin immediate";

/** A connection for a query builder, which can also return rows one by one. */
type Connection = SqliteDatabase & {
  readonly rows: (sql: string, parameters: readonly unknown[]) => Iterable<readonly unknown[]>;
};

const connections = new WeakMap<object, Connection>();

/** A query builder over one connection. */
export function queryBuilder<Tables>(database: DatabaseSync): Kysely<Tables> {
  return queryBuilderOver(stayingOpen(database));
}

/** A query builder over a connection that may be closed and opened again between statements. */
export function queryBuilderOver<Tables>(connection: SqliteUse): Kysely<Tables> {
  const adapted = adaptConnection(connection);
  const builder = new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapted }) });
  connections.set(builder.getExecutor().adapter, adapted);
  return builder;
}

/** The SQLite connection behind a query builder; null when it has none. */
export function sqliteConnection({ adapter }: { readonly adapter: object }): SqliteDatabase | null {
  return connections.get(adapter) ?? null;
}

/** The rows of a query one by one, each as an array of its columns; null when the database is not SQLite. */
export function sqliteRows(
  { adapter }: { readonly adapter: object },
  { sql, parameters }: CompiledQuery,
): Iterable<readonly unknown[]> | null {
  return connections.get(adapter)?.rows(sql, parameters) ?? null;
}

/** A connection with the interface of better-sqlite3, which Kysely's SQLite dialect expects. */
export function adaptDatabase(database: DatabaseSync): Connection {
  return adaptConnection(stayingOpen(database));
}

function adaptConnection(connection: SqliteUse): Connection {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => connection[Symbol.dispose](),
    rows: function* (sql, parameters) {
      using _ = connection.hold();
      const statement = connection.database().prepare(sql);
      statement.setReturnArrays(true);
      yield* statement.iterate(...parameters.map(inputValue)) as Iterable<unknown> as Iterable<readonly unknown[]>;
    },
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement =
        sql === "rollback" ? rollback(connection) : adaptStatement(connection, sql === "begin" ? BEGIN : sql);
      // Statements with lists of values differ in text for each length, so the cache is bounded.
      if (statements.size >= MAX_STATEMENTS) for (const oldest of statements.keys().take(1)) statements.delete(oldest);
      statements.set(sql, statement);
      return statement;
    },
  };
}

// After some errors, such as a full disk, SQLite rolls back by itself. A second rollback would fail and hide the error.
function rollback(connection: SqliteUse): SqliteStatement {
  const statement = adaptStatement(connection, "rollback");
  const run: SqliteStatement["run"] = (parameters) =>
    connection.database().isTransaction ? statement.run(parameters) : { changes: 0, lastInsertRowid: 0 };
  return { ...statement, run };
}

function adaptStatement(connection: SqliteUse, sql: string): SqliteStatement {
  let prepared: { readonly on: DatabaseSync; readonly statement: StatementSync } | null = null;
  const current = (): StatementSync => {
    const database = connection.database();
    if (prepared?.on !== database) prepared = { on: database, statement: database.prepare(sql) };
    return prepared.statement;
  };
  return {
    reader: current().columns().length > 0,
    all: (parameters) => current().all(...parameters.map(inputValue)),
    run: (parameters) => current().run(...parameters.map(inputValue)),
    iterate: function* (parameters) {
      using _ = connection.hold();
      yield* current().iterate(...parameters.map(inputValue));
    },
  };
}

function inputValue(value: unknown): SQLInputValue {
  switch (typeof value) {
    case "string":
    case "number":
    case "bigint":
      return value;
    case "object":
      if (value === null || value instanceof Uint8Array) return value;
  }
  throw new TypeError(`a ${typeof value} cannot be stored`);
}
