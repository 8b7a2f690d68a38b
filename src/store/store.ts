import type { Kysely, Transaction } from "kysely";
import type { StoreErrorCode } from "./store-error.ts";

/**
 * A database of ours. Many callers write at once; their changes may share one commit, and each caller goes on only
 * after the commit that holds its change is durable.
 */
export type Store<Tables> = AsyncDisposable & {
  /** Sees what was committed, and never waits for a writer. */
  readonly read: Kysely<Tables>;
  /**
   * Runs the change in a transaction: it sees all that was written before, and when it throws nothing of it stays. It
   * should wait for nothing but its queries, since other writers wait for it. Where others write too it may run again:
   * only what it changes is sure to be still as it was read, and only its last run counts.
   */
  write<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** The time in epoch milliseconds, by the one clock that all go by who write the database. */
  time(transaction: Transaction<Tables>): Promise<number>;
  /** A number that differs after every commit; what was read at one number is still so while it stays. */
  commits(): number;
  /** Whether other processes may write it, whose commits are not counted here. */
  readonly isShared: boolean;
  /**
   * Why it cannot be written now, null when it can; rejects when it cannot even be asked. Once a write has found no room,
   * this tries one, so that it shows when there is room again.
   */
  unwritable(): Promise<StoreErrorCode | null>;
  /** Waits for the writes under way and lets go of the database. */
  close(): Promise<void>;
};
