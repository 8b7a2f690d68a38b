import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { Kysely, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";

const KEPT_STATEMENTS = 500;
// Another process may write too: who first reads and then wants to write would find its snapshot outdated.
const BEGIN = "begin immediate";

const connections = new WeakMap<object, SqliteDatabase>();

/** A query builder over one connection. */
export function queries<Tables>(database: DatabaseSync): Kysely<Tables> {
  const adapted = adapt(database);
  const builder = new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapted }) });
  connections.set(builder.getExecutor().adapter, adapted);
  return builder;
}

/** The connection behind a query builder, on which a statement runs at once; null where there is none of SQLite. */
export function connectionOf({ adapter }: { readonly adapter: object }): SqliteDatabase | null {
  return connections.get(adapter) ?? null;
}

// Kysely's SQLite dialect expects the interface of better-sqlite3.
function adapt(database: DatabaseSync): SqliteDatabase {
  const kept = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare: (sql) => {
      const known = kept.get(sql);
      if (known !== undefined) return known;
      const statement = adaptStatement(database.prepare(sql === "begin" ? BEGIN : sql));
      // Statements with lists of values differ in text for each length: the oldest make room.
      if (kept.size >= KEPT_STATEMENTS) for (const oldest of kept.keys().take(1)) kept.delete(oldest);
      kept.set(sql, statement);
      return statement;
    },
  };
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
