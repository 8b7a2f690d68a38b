import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { lstatOrNull } from "../../files/lstat-or-null.ts";

const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens a connection that reads a SQLite file, also on a read-only file system: with WAL, SQLite needs to create a
 * shared-memory file, which fails there. When the log is empty, the file can be opened as immutable without it.
 */
export function openToRead(path: string): DatabaseSync {
  try {
    return readable(openSqliteConnection(path, { readOnly: true }));
  } catch (error) {
    if ((lstatOrNull(`${path}-wal`)?.size ?? 0) > 0) throw error;
    const url = pathToFileURL(path);
    url.searchParams.set("immutable", "1");
    return readable(openSqliteConnection(url, { readOnly: true }));
  }
}

function readable(database: DatabaseSync): DatabaseSync {
  try {
    database.exec("SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens one connection to a SQLite file, which is created when absent, unless it is opened read-only. */
export function openSqliteConnection(
  place: string | URL,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): DatabaseSync {
  const database = new DatabaseSync(place, { readOnly, timeout: BUSY_TIMEOUT_MS, enableForeignKeyConstraints: true });
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
