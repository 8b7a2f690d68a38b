import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { backUpBeforeUpgrade } from "./backup.ts";
import { remainingMigrations } from "./interrupted-migration.ts";
import { type Migrations, migrate, schemaState } from "./migrate.ts";
import { queryBuilder } from "./sqlite.ts";
import { storeErrorCode } from "./store-error.ts";

/**
 * Makes the schema of a SQLite file, or brings it up to date, in one transaction: whatever happens, the file has the old
 * schema or the new one. Answers what the operator should know of it; null where the file was new, or up to date.
 */
export async function upgradeSchema(
  connection: DatabaseSync,
  path: string,
  migrations: Migrations,
): Promise<string | null> {
  const { pending } = await schemaState(queryBuilder(connection), migrations);
  if (pending.length === 0) return null;
  await begin(connection);
  try {
    const notice = await upgradeInTransaction(connection, path, migrations);
    connection.exec("COMMIT");
    return notice;
  } catch (error) {
    // After some faults, such as a full disk, SQLite has rolled back by itself.
    if (connection.isTransaction) connection.exec("ROLLBACK");
    throw error;
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
  if (backup !== null) return `${path} was upgraded; a backup of what it was is in ${backup}`;
  return remaining === null ? null : `${path} was left half made by an interrupted start, and is complete now`;
}

// Each attempt waits for as long as the connection does; an upgrade with its backup may take longer than that.
const ATTEMPTS = 12;

async function begin(connection: DatabaseSync): Promise<void> {
  for (let nth = 1; ; nth += 1) {
    try {
      connection.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (nth === ATTEMPTS || storeErrorCode(error) !== "locked") throw error;
    }
    // Signals are heard in between.
    await nextTurn();
  }
}
