import { DatabaseSync } from "node:sqlite";
import { migrations as controlPlane } from "../../src/server/database/migrations.ts";
import { stateMigrations } from "../../src/state/database/state-schema.ts";
import { type Migrations, migrate } from "../../src/store/migrate.ts";
import { openSqliteConnection } from "../../src/store/sqlite/open-connection.ts";
import { queryBuilder } from "../../src/store/sqlite/query-builder.ts";

/** A database of a state folder. */
export type Database = {
  readonly name: string;
  readonly migrations: Migrations;
  /** Those that releases had which committed every statement of a step by itself, and so could leave one half made. */
  readonly early: Migrations;
};

const ledger = stateMigrations();

/** The databases that a state folder has. */
export const databases: readonly Database[] = [
  { name: "ledger.db", migrations: ledger, early: firstOf(ledger, 4) },
  { name: "control-plane.db", migrations: controlPlane, early: firstOf(controlPlane, 3) },
];

/** The first steps of a schema. */
export function firstOf(migrations: Migrations, count: number): Migrations {
  const names = Object.keys(migrations).toSorted().slice(0, count);
  return Object.fromEntries(Object.entries(migrations).filter(([name]) => names.includes(name)));
}

/** Makes or upgrades a database as early releases did: every statement is committed by itself. */
export async function migrateLikeEarlierReleases(path: string, migrations: Migrations): Promise<void> {
  using connection = openSqliteConnection(path);
  await migrate(queryBuilder(connection), migrations);
}

/** Puts a row into every table that has none. */
export function fillTables(path: string): void {
  using connection = new DatabaseSync(path);
  for (const table of tablesOf(connection)) {
    const columns = connection.prepare("SELECT name, type FROM pragma_table_info(?)").all(table);
    const values = columns.map(({ name, type }) => valueFor(String(name), String(type)));
    const places = values.map(() => "?").join();
    connection.prepare(`INSERT INTO "${table}" VALUES (${places})`).run(...values);
  }
}

function valueFor(column: string, type: string): number | string {
  if (/int/i.test(type)) return 7;
  return column === "json" ? "{}" : column;
}

/** Copies the rows of a database into the tables and columns of an older one, whose tables it may have lost since. */
export function copyRows(from: string, to: string): void {
  using connection = new DatabaseSync(to);
  connection.prepare("ATTACH ? AS newer").run(from);
  const isKept = connection.prepare("SELECT 1 FROM newer.sqlite_schema WHERE type = 'table' AND name = ?");
  for (const table of tablesOf(connection)) {
    if (isKept.get(table) === undefined) continue;
    const columns = connection.prepare("SELECT name FROM pragma_table_info(?)").all(table);
    const names = columns.map(({ name }) => `"${name}"`).join();
    connection.exec(`INSERT INTO main."${table}" (${names}) SELECT ${names} FROM newer."${table}"`);
  }
}

/** What a database holds, and the schema it has: equal for two that an application cannot tell apart. */
export function contentOf(path: string): { readonly schema: unknown; readonly rows: Rows; readonly isSound: boolean } {
  using connection = new DatabaseSync(path);
  const schema = connection
    .prepare(
      "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'kysely%' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .all();
  const rows = tablesOf(connection).map((table) => [table, connection.prepare(`SELECT * FROM "${table}"`).all()]);
  const [check] = connection.prepare("PRAGMA integrity_check").all();
  return { schema, rows: Object.fromEntries(rows), isSound: check?.integrity_check === "ok" };
}

type Rows = { readonly [table: string]: readonly { readonly [column: string]: unknown }[] };

function tablesOf(connection: DatabaseSync): readonly string[] {
  return connection
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'kysely%' AND name NOT LIKE 'sqlite%' ORDER BY name",
    )
    .all()
    .map(({ name }) => String(name));
}
