import { DatabaseSync } from "node:sqlite";
import { ownDatabaseExists } from "../files/own-database.ts";
import { createFile } from "../files/write-file.ts";
import { StoreError, storageErrorText, storeErrorCode } from "./store-error.ts";

/**
 * Takes a lock file until it is disposed; null when another process holds it. The kernel releases it when the process
 * ends in any way, so there are no stale locks.
 */
export function holdExclusiveLock(path: string): AsyncDisposable | null {
  // Created with mode 0600 first.
  if (!ownDatabaseExists(path)) createFile(path, "");
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const code = storeErrorCode(error) ?? "failed";
    if (code === "locked") return null;
    throw new StoreError(code, `${path}: the lock cannot be taken: ${storageErrorText(error)}`, { cause: error });
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Whether a lock file is held at this moment. */
export function isLockHeld(path: string): boolean {
  if (!ownDatabaseExists(path)) return false;
  using database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    database.exec("SELECT count(*) FROM sqlite_schema");
    return false;
  } catch (error) {
    return storeErrorCode(error) === "locked";
  }
}
