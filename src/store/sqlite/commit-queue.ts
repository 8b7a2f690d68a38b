// src/store/sqlite: the store in a file, with SQLite. See docs/architecture.md#state.

import type { Kysely, Transaction } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import { runStatements } from "../prepared-query.ts";
import { rollBackTo } from "../store.ts";
import { storeErrorCode } from "../store-error.ts";

// A larger batch would block reads for too long, since SQLite runs on the caller's thread.
const MAX_BATCH = 128;

const savepoint = { sql: "SAVEPOINT change", values: [] };
const release = { sql: "RELEASE change", values: [] };

type Failed = { readonly error: unknown };

type Waiting<Tables> = {
  /** Runs the change; returns what it threw, so that it can be rolled back. */
  readonly run: (transaction: Transaction<Tables>) => Promise<Failed | null>;
  /** Called when the commit is durable. */
  readonly committed: () => void;
  /** Called when the commit failed. */
  readonly lost: (error: unknown) => void;
};

/** Group commit: runs changes one after another; those that wait at the same time share one commit and one fsync. */
export class CommitQueue<Tables> {
  readonly #database: Kysely<Tables>;
  readonly #clock: Clock;
  readonly #check: () => void;
  readonly #waiting: Waiting<Tables>[] = [];
  #draining: Promise<void> | null = null;
  #closed = false;
  #commits = 0;
  #isFull = false;

  /** `check` throws when nothing may be written. */
  constructor(database: Kysely<Tables>, clock: Clock, check: () => void) {
    this.#database = database;
    this.#clock = clock;
    this.#check = check;
  }

  /** Resolves when the change is durable; rejects when it threw or could not be committed. */
  add<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let committed = () => {};
    const run = async (transaction: Transaction<Tables>) => {
      try {
        const result = await change(transaction);
        committed = () => resolve(result);
        return null;
      } catch (error) {
        reject(error);
        return { error };
      }
    };
    this.#waiting.push({ run, committed: () => committed(), lost: reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** The number of commits attempted, counted before the callers are notified. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether the last commit failed because the disk was full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Refuses further changes and waits for the pending ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop lets requests that have just arrived join the batch.
      await this.#clock.turn();
      await commit(this.#database, this.#waiting.splice(0, MAX_BATCH), {
        check: this.#check,
        ended: (failed) => {
          this.#commits += 1;
          this.#isFull = failed !== null && storeErrorCode(failed.error) === "full";
        },
      });
    }
    this.#draining = null;
  }
}

// The promise of a change that threw is settled already; settling it again has no effect.
async function commit<Tables>(
  database: Kysely<Tables>,
  batch: readonly Waiting<Tables>[],
  { check, ended }: { readonly check: () => void; readonly ended: (failed: Failed | null) => void },
): Promise<void> {
  try {
    check();
    await database.transaction().execute(async (transaction) => {
      for (const waiting of batch) await runIsolated(transaction, waiting);
    });
  } catch (error) {
    ended({ error });
    for (const { lost } of batch) lost(error);
    return;
  }
  ended(null);
  for (const { committed } of batch) committed();
}

async function runIsolated<Tables>(transaction: Transaction<Tables>, { run }: Waiting<Tables>): Promise<void> {
  await runStatements(transaction, [savepoint]);
  const failed = await run(transaction);
  if (failed !== null) await rollBackTo(transaction, "change", failed.error);
  await runStatements(transaction, [release]);
}
