// src/store: a database with many writers, behind one interface. See docs/architecture.md#source-folders.

import { type Kysely, sql, type Transaction } from "kysely";
import type { StoreErrorCode } from "./store-error.ts";

/** How the connections of a pool are used now. */
export type ConnectionUse = {
  readonly pool: "read" | "write";
  readonly idle: number;
  readonly busy: number;
  /** Queries that wait for a connection. */
  readonly waiters: number;
};

/**
 * A database with many concurrent writers. Their changes may share one commit; a write resolves only after the commit
 * with its change is durable.
 */
export type Store<Tables> = AsyncDisposable & {
  /** Reads committed data, without waiting for writers. */
  readonly read: Kysely<Tables>;
  /**
   * Runs the change in a transaction, which is rolled back when it throws. It should wait for nothing but its queries,
   * since other writers wait for it. In a shared database it may run again after a conflict: only its last run counts,
   * and only rows that it changes are protected from concurrent changes.
   */
  write<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** The time in epoch milliseconds, by the clock that all writers of the database share. */
  time(transaction: Transaction<Tables>): Promise<number>;
  /** A number that changes with every commit of this process; data read since the last change is still current. */
  commits(): number;
  /** Whether other processes may write it; `commits` does not count theirs. */
  readonly isShared: boolean;
  /**
   * The reason why the database cannot be written now, null when it can. Rejects when it cannot be read. After a write
   * has failed on a full disk, this tries a write, to detect when there is space again.
   */
  unwritable(): Promise<StoreErrorCode | null>;
  /** The connections to a database server; none for a file. */
  connections(): readonly ConnectionUse[];
  /** Waits for pending writes and closes the database. */
  close(): Promise<void>;
};

/**
 * Rolls back to a savepoint because of an error. When SQLite has rolled back the whole transaction, as it does on a full
 * disk, the savepoint is gone, and the original error is thrown.
 */
export async function rollBackTo<Tables>(
  transaction: Transaction<Tables>,
  savepoint: string,
  error: unknown,
): Promise<void> {
  try {
    await sql`ROLLBACK TO SAVEPOINT ${sql.id(savepoint)}`.execute(transaction);
  } catch (failure) {
    throw error ?? failure;
  }
}
