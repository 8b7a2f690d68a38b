import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { type CompiledQuery, Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";

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
  const adapted = adaptDatabase(database);
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
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    rows: (sql, parameters) => {
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      return statement.iterate(...parameters.map(inputValue)) as Iterable<unknown> as Iterable<readonly unknown[]>;
    },
    prepare: (sql) => {
      const known = statements.get(sql);
      if (known !== undefined) return known;
      const statement =
        sql === "rollback" ? rollback(database) : adaptStatement(database.prepare(sql === "begin" ? BEGIN : sql));
      // Statements with lists of values differ in text for each length, so the cache is bounded.
      if (statements.size >= MAX_STATEMENTS) for (const oldest of statements.keys().take(1)) statements.delete(oldest);
      statements.set(sql, statement);
      return statement;
    },
  };
}

// After some errors, such as a full disk, SQLite rolls back by itself. A second rollback would fail and hide the error.
function rollback(database: DatabaseSync): SqliteStatement {
  const statement = adaptStatement(database.prepare("rollback"));
  const run: SqliteStatement["run"] = (parameters) =>
    database.isTransaction ? statement.run(parameters) : { changes: 0, lastInsertRowid: 0 };
  return { ...statement, run };
}

function adaptStatement(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...parameters.map(inputValue)),
    run: (parameters) => statement.run(...parameters.map(inputValue)),
    iterate: (parameters) => statement.iterate(...parameters.map(inputValue)),
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
