import { setTimeout as pause } from "node:timers/promises";
import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { StoreError, storeErrorCode } from "../store-error.ts";
import { type CommitMarker, readMarker } from "./commit-markers.ts";
import { AmbiguousCommitError } from "./connection.ts";
import { writeConflict } from "./error-codes.ts";
import { ReadWriteLock } from "./rw-lock.ts";

/** For how long a write is tried, in milliseconds. */
export type RetryLimits = {
  /** While others are in its way, or its outcome is not known: nobody waits for an answer any longer. @default 20_000 */
  readonly deadline: number;
  /** While the database is away: one that restarts is back soon, or not for a while. @default 5_000 */
  readonly away: number;
};

// A change that is alone can lose against other servers only; more losses than that are a mistake of ours.
const DUPLICATES = 10;
const LONGEST_PAUSE_MS = 200;

type Change<Tables, Result> = (transaction: Transaction<Tables>) => Promise<Result>;

/**
 * Runs changes in transactions of their own, many at a time, against those of other servers too. Each sees one moment
 * of the database; when anything that it changed was changed by another one since then (REPEATABLE READ: the first to
 * change a row wins), it runs anew, and none beside it from here.
 */
export class PostgresWriter<Tables> {
  readonly #database: Kysely<Tables>;
  readonly #patience: RetryLimits;
  readonly #running = new Set<Promise<unknown>>();
  readonly #lock = new ReadWriteLock();
  #closed = false;
  #commits = 0;
  #isFull = false;

  constructor(database: Kysely<Tables>, { deadline = 20_000, away = 5000 }: Partial<RetryLimits> = {}) {
    this.#database = database;
    this.#patience = { deadline, away };
  }

  /** How many transactions may have been committed from here. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether the last write found no room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Resolves when the change is durable; rejects when it threw or could not be committed. */
  write<Result>(change: Change<Tables, Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const running = this.#tryAgain(change);
    this.#running.add(running);
    const done = () => this.#running.delete(running);
    running.then(done, done);
    return running;
  }

  /** Refuses further changes and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#database.destroy();
  }

  async #tryAgain<Result>(change: Change<Tables, Result>): Promise<Result> {
    const started = performance.now();
    let collisions = 0;
    let duplicates = 0;
    for (let nth = 0; ; nth += 1) {
      try {
        return await this.#lock.take(() => this.#once(change), { alone: collisions > 0 });
      } catch (error) {
        const collision = writeConflict(error);
        if (collision !== null) collisions += 1;
        if (collision === "duplicate") duplicates += 1;
        const isAway = storeErrorCode(error) === "unreachable";
        const waited = performance.now() - started;
        const isHopeless =
          collision === null ? !isAway || waited > this.#patience.away : waited > this.#patience.deadline;
        if (isHopeless || duplicates > DUPLICATES) throw error;
        // Chance keeps those that collided from meeting again.
        if (nth > 0 || isAway) await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 2 ** nth));
      }
    }
  }

  async #once<Result>(change: Change<Tables, Result>): Promise<Result> {
    let result: { readonly value: Result } | null = null;
    try {
      await this.#database
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (transaction) => {
          result = { value: await change(transaction) };
        });
      this.#isFull = false;
    } catch (error) {
      this.#isFull = storeErrorCode(error) === "full";
      if (!(error instanceof AmbiguousCommitError)) throw error;
      await this.#settle(error);
    } finally {
      this.#commits += 1;
    }
    return resultOf(result);
  }

  // A lost answer to a commit is asked for again: making the change a second time could make it twice.
  async #settle(unknown: AmbiguousCommitError): Promise<void> {
    const started = performance.now();
    for (;;) {
      const number = await this.#numberIn(unknown.mark);
      if (number === unknown.mark.number) return;
      if (number !== null) throw new StoreError("unreachable", "the commit failed", { cause: unknown });
      if (performance.now() - started > this.#patience.deadline) {
        throw new StoreError("commit-unknown", "whether the change was committed is not known", { cause: unknown });
      }
      await pause(LONGEST_PAUSE_MS);
    }
  }

  /** The number that was left in the slot of a mark; null when it cannot be asked for at the moment. */
  async #numberIn({ slot }: CommitMarker): Promise<number | null> {
    try {
      const asked = CompiledQuery.raw(readMarker, [slot]);
      const { rows } = await this.#database.executeQuery<{ readonly number: number }>(asked);
      return rows[0]?.number ?? null;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return null;
    }
  }
}

function resultOf<Result>(result: { readonly value: Result } | null): Result {
  if (result === null) throw new TypeError("a change was committed without having run");
  return result.value;
}
