import { type FileRequirements, statOwnFile } from "./own-file.ts";

// Far beyond any ledger or control plane: SQLite itself reads no more of a file than it needs.
const DATABASE: FileRequirements = { limit: 2 ** 40 };

/** What SQLite keeps beside a database, under its name. */
const BESIDE = ["-wal", "-shm", "-journal"];

/**
 * Refuses a SQLite database of which a file is not ours; false where there is none. SQLite opens them by name, and follows
 * links. They are not opened here: closing a file lets go of every lock that this process has on it.
 */
export function ownDatabaseExists(path: string): boolean {
  for (const suffix of BESIDE) statOwnFile(path + suffix, DATABASE);
  return statOwnFile(path, DATABASE) !== null;
}
