import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { type Migrations, migrate, type SchemaState, schemaState } from "../migrate.ts";
import { StoreError, storeErrorCode } from "../store-error.ts";
import { replaceWithCopy } from "./copy-database.ts";
import { adaptDatabase, queryBuilder } from "./query-builder.ts";

// The tables and indexes, each with its columns.
const STRUCTURE = `
  SELECT name, (SELECT group_concat(c.name) FROM pragma_table_info(s.name) c) AS held,
    (SELECT group_concat(c.name) FROM pragma_index_info(s.name) c) AS indexed
  FROM sqlite_schema s
  WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'kysely\\_%' ESCAPE '\\'`;

const skippedStatement: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

/**
 * Creates or migrates the schema of a SQLite file in one transaction: after a crash the file has the old schema or the
 * new one. Returns a notice for the operator; null when the file was new or current.
 */
export async function upgradeSchema(
  connection: DatabaseSync,
  path: string,
  migrations: Migrations,
  clock: Clock,
): Promise<string | null> {
  if (isCurrent(connection, migrations)) return null;
  const { pending } = await schemaState(queryBuilder(connection), migrations);
  if (pending.length === 0) return null;
  await begin(connection, clock);
  try {
    const notice = await upgradeInTransaction(connection, path, migrations);
    connection.exec("COMMIT");
    return notice;
  } catch (error) {
    // After some errors, such as a full disk, SQLite has rolled back by itself.
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
  }
}

/** Whether these migrations were applied and no others; where not, the whole schema must be looked at. */
export function isCurrent(connection: DatabaseSync, migrations: Migrations): boolean {
  try {
    const applied = connection.prepare("SELECT name FROM kysely_migration ORDER BY name").all();
    return isDeepStrictEqual(
      applied.map(({ name }) => name),
      Object.keys(migrations).toSorted(),
    );
  } catch {
    return false;
  }
}

async function upgradeInTransaction(
  connection: DatabaseSync,
  path: string,
  migrations: Migrations,
): Promise<string | null> {
  const database = queryBuilder(connection);
  // Read again: another process may have upgraded it while this one waited.
  const state = await schemaState(database, migrations);
  if (state.pending.length === 0) return null;
  const backup = state.applied.length === 0 ? null : await backUpBeforeUpgrade(path, state.applied);
  const remaining = await remainingMigrations(connection, migrations, state);
  await migrate(database, remaining ?? migrations);
  if (backup !== null) return `${path} was upgraded; its backup is ${backup}`;
  return remaining === null ? null : `${path} was incomplete after an interrupted start, and was completed`;
}

// Each attempt waits for the connection's busy timeout; another process's upgrade with its backup may take longer.
const ATTEMPTS = 12;

async function begin(connection: DatabaseSync, clock: Clock): Promise<void> {
  for (let nth = 1; ; nth += 1) {
    try {
      connection.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (nth === ATTEMPTS || storeErrorCode(error) !== "locked") throw error;
    }
    // Signals are handled in between.
    await clock.turn();
  }
}

const MAX_BACKUPS = 3;

/**
 * Copies a database before an upgrade to a file in the same folder, named after its last migration; returns the file. A
 * backup of the same schema is replaced; only the backups of the latest three schemas stay.
 */
async function backUpBeforeUpgrade(path: string, applied: readonly string[]): Promise<string> {
  const backups = applied.map((name) => `${path}.${name}.backup`);
  const backup = backups.at(-1) ?? `${path}.backup`;
  try {
    await replaceWithCopy(path, backup);
  } catch (cause) {
    const why = errorMessage(cause);
    throw new StoreError("no-backup", `it was not upgraded, since ${why}`, { cause });
  }
  for (const old of backups.filter((file) => existsSync(file)).slice(0, -MAX_BACKUPS)) await rm(old);
  return backup;
}

/**
 * The migrations that remain when an earlier release was interrupted in the middle of one. That release committed each
 * statement separately, so the statements of the migration that have run are skipped. Null when none has run.
 */
async function remainingMigrations(
  connection: DatabaseSync,
  migrations: Migrations,
  { applied, pending }: SchemaState,
): Promise<Migrations | null> {
  const [name = ""] = pending;
  const step = migrations[name];
  if (step === undefined) return null;
  const found = structureOf(connection);
  // A new file.
  if (found.size === 0) return null;
  const stages = await stagesOf(migrations, applied, name);
  const known = new Set(stages.flatMap((stage) => [...stage.keys()]));
  // The first match: a statement that changed only rows is run again.
  const done = stages.findIndex((stage) => [...known].every((each) => stage.get(each) === found.get(each)));
  if (done <= 0) return null;
  return { ...migrations, [name]: { up: () => step.up(skipping(connection, done)) } };
}

function structureOf(connection: DatabaseSync): ReadonlyMap<string, string> {
  const rows = connection.prepare(STRUCTURE).all();
  return new Map(rows.map(({ name, held, indexed }) => [String(name), `${held}/${indexed}`]));
}

/** The structure of a schema before each statement of a step, and after the last one. */
async function stagesOf(
  migrations: Migrations,
  applied: readonly string[],
  name: string,
): Promise<readonly ReadonlyMap<string, string>[]> {
  using scratch = new DatabaseSync(":memory:");
  for (const each of applied) await migrations[each]?.up(queryBuilder(scratch));
  const stages: ReadonlyMap<string, string>[] = [];
  await migrations[name]?.up(
    intercepted(scratch, () => {
      stages.push(structureOf(scratch));
      return "run";
    }),
  );
  return [...stages, structureOf(scratch)];
}

function skipping(connection: DatabaseSync, count: number): Kysely<unknown> {
  let nth = 0;
  return intercepted(connection, () => {
    nth += 1;
    return nth <= count ? "skip" : "run";
  });
}

function intercepted(connection: DatabaseSync, decide: () => "run" | "skip"): Kysely<unknown> {
  const adapted = adaptDatabase(connection);
  const prepare = (sql: string): SqliteStatement => (decide() === "run" ? adapted.prepare(sql) : skippedStatement);
  return new Kysely({ dialect: new SqliteDialect({ database: { ...adapted, prepare } }) });
}
