import { DatabaseSync } from "node:sqlite";
import { ownDatabaseExists } from "../files/database-files.ts";
import { createFile } from "../files/write.ts";
import { StoreError, storageErrorText, storeErrorCode } from "./store-error.ts";

/**
 * Holds a lock file until it is disposed of; null when someone else holds it. The kernel frees it on any death of the
 * process, so that no stale lock is ever left behind.
 */
export function holdExclusiveLock(path: string): AsyncDisposable | null {
  // Made by us, for its owner alone.
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

/** Whether somebody is seen to hold a lock file at this moment. */
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
