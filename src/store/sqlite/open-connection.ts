import { DatabaseSync } from "node:sqlite";

const BUSY_TIMEOUT_MS = 5000;

/** Opens one connection to a SQLite file, which is created when absent, unless it is opened read-only. */
export function openSqliteConnection(
  path: string,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly, timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
  try {
    if (!readOnly) database.exec("PRAGMA journal_mode = WAL");
    // FULL: a commit that was acknowledged survives a power failure.
    database.exec("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF");
    // SQLite keeps statement journals in memory. In files it wrote four times as much data, outside the state folder.
    database.exec("PRAGMA temp_store = MEMORY");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
