import type { Kysely, Transaction } from "kysely";

/**
 * A database of ours. Many callers write at once; their changes may share one commit, and each caller goes on only
 * after the commit that holds its change is durable.
 */
export type Store<Tables> = AsyncDisposable & {
  /** Sees what was committed, and never waits for a writer. */
  readonly read: Kysely<Tables>;
  /**
   * Runs the change alone, in a transaction: it sees all that was written before, and when it throws nothing of it
   * stays. It should wait for nothing but its queries, since other writers wait for it.
   */
  write<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** A number that differs after every commit; what was read at one number is still so while it stays. */
  commits(): number;
  /** Waits for the writes under way and lets go of the file. */
  close(): Promise<void>;
};
