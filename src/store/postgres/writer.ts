import { CompiledQuery, type Kysely, type Transaction } from "kysely";
import { backoff } from "../../clock/backoff.ts";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import { StoreError, storeErrorCode } from "../store-error.ts";
import { type CommitMarker, readMarker } from "./commit-markers.ts";
import { AmbiguousCommitError, writeConflict } from "./connection.ts";

/** How long a write is retried, in milliseconds. */
export type RetryLimits = {
  /** After conflicts with other transactions, or while the outcome of a commit is unknown. @default 20_000 */
  readonly deadline: number;
  /** While the database is unreachable. @default 5_000 */
  readonly away: number;
};

// A change that runs exclusively here conflicts only with other servers; more duplicates are a programming error.
const MAX_DUPLICATES = 10;
const BACKOFF = { first: 1, most: 200 };

/**
 * Runs each change in its own transaction, many at a time, concurrently with other servers. Isolation is REPEATABLE READ:
 * when another transaction has changed the same rows, the change is retried, and then runs exclusively in this process.
 */
export class PostgresWriter<Tables> {
  readonly #database: Kysely<Tables>;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #limits: RetryLimits;
  readonly #running = new Set<Promise<unknown>>();
  readonly #lock = new ReadWriteLock();
  #closed = false;
  #commits = 0;
  #isFull = false;

  constructor(
    database: Kysely<Tables>,
    {
      clock,
      random,
      deadline = 20_000,
      away = 5000,
    }: Partial<RetryLimits> & { readonly clock: Clock; readonly random: Random },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
    this.#limits = { deadline, away };
  }

  /** The number of transactions that this process may have committed. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether the last write failed because the disk was full. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Resolves when the change is durable; rejects when it threw or could not be committed. */
  write<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const running = this.#retry(change);
    this.#running.add(running);
    const done = () => this.#running.delete(running);
    running.then(done, done);
    return running;
  }

  /** Refuses further changes and waits for the pending ones. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    await this.#database.destroy();
  }

  async #retry<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    const started = this.#clock.monotonic();
    let conflicts = 0;
    let duplicates = 0;
    for (let nth = 0; ; nth += 1) {
      try {
        return await this.#lock.run(() => this.#once(change), { exclusive: conflicts > 0 });
      } catch (error) {
        const conflict = writeConflict(error);
        if (conflict !== null) conflicts += 1;
        if (conflict === "duplicate") duplicates += 1;
        const isAway = storeErrorCode(error) === "unreachable";
        const waited = this.#clock.monotonic() - started;
        const isFinal = conflict === null ? !isAway || waited > this.#limits.away : waited > this.#limits.deadline;
        if (isFinal || duplicates > MAX_DUPLICATES) throw error;
        // Random, so that transactions that conflicted do not conflict again.
        if (nth > 0 || isAway) await this.#clock.sleep(backoff(nth + 1, BACKOFF, this.#random.next()));
      }
    }
  }

  async #once<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result> {
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
      await this.#resolve(error);
    } finally {
      this.#commits += 1;
    }
    return resultOf(result);
  }

  // The outcome is read by the commit marker: running the change again could apply it twice.
  async #resolve(ambiguous: AmbiguousCommitError): Promise<void> {
    const started = this.#clock.monotonic();
    for (;;) {
      const number = await this.#readNumber(ambiguous.marker);
      if (number === ambiguous.marker.number) return;
      if (number !== null) throw new StoreError("unreachable", "the commit failed", { cause: ambiguous });
      if (this.#clock.monotonic() - started > this.#limits.deadline) {
        throw new StoreError("commit-unknown", "it is unknown whether the change was committed", { cause: ambiguous });
      }
      await this.#clock.sleep(BACKOFF.most);
    }
  }

  /** The number in the slot of a marker; null when the database cannot be reached. */
  async #readNumber({ slot }: CommitMarker): Promise<number | null> {
    try {
      const query = CompiledQuery.raw(readMarker, [slot]);
      const { rows } = await this.#database.executeQuery<{ readonly number: number }>(query);
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

/** A read-write lock: many shared holders or one exclusive holder, in order of arrival. */
class ReadWriteLock {
  readonly #waiting: { readonly isExclusive: boolean; readonly begin: () => void }[] = [];
  #running = 0;
  #isExclusive = false;

  /** Runs the work while holding the lock. */
  async run<Result>(work: () => Promise<Result>, { exclusive }: { readonly exclusive: boolean }): Promise<Result> {
    await this.#acquire(exclusive);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#isExclusive = false;
      this.#next();
    }
  }

  #acquire(isExclusive: boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isExclusive, begin: resolve });
    this.#next();
    return promise;
  }

  #next(): void {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#isExclusive || (first.isExclusive && this.#running > 0)) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#isExclusive = first.isExclusive;
      first.begin();
    }
  }
}
