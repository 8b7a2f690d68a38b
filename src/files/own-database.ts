import { type FileRequirements, statOwnFile } from "./read-own-file.ts";

// Larger than any ledger or control plane: SQLite reads only the pages that it needs.
const DATABASE: FileRequirements = { limit: 2 ** 40 };

/** The files that SQLite adds to a database. */
const COMPANION_SUFFIXES = ["-wal", "-shm", "-journal"];

/**
 * Whether a SQLite database exists; refuses one with a file of another user. SQLite opens its files by name and follows
 * links. They are not opened here: closing a file releases every lock that this process has on it.
 */
export function ownDatabaseExists(path: string): boolean {
  for (const suffix of COMPANION_SUFFIXES) statOwnFile(path + suffix, DATABASE);
  return statOwnFile(path, DATABASE) !== null;
}
