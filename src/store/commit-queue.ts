import { type Kysely, sql, type Transaction } from "kysely";
import { rollBackTo } from "./savepoint.ts";
import { storeErrorCode } from "./store-error.ts";

// More would keep reads waiting for too long, since SQLite runs on the caller's thread.
const LARGEST_BATCH = 128;

type Failed = { readonly error: unknown };

type Waiting<Tables> = {
  /** Runs the change, and answers what it threw: its traces must go then. */
  readonly run: (transaction: Transaction<Tables>) => Promise<Failed | null>;
  /** Tells the caller, once the commit is durable. */
  readonly committed: () => void;
  /** Tells the caller that the commit failed. */
  readonly lost: (error: unknown) => void;
};

/** Runs changes one after another; those that wait at the same time share one commit, and so one flush to the disk. */
export class CommitQueue<Tables> {
  readonly #database: Kysely<Tables>;
  readonly #check: () => void;
  readonly #waiting: Waiting<Tables>[] = [];
  #draining: Promise<void> | null = null;
  #closed = false;
  #commits = 0;
  #isFull = false;

  /** `check` throws where nothing may be written. */
  constructor(database: Kysely<Tables>, check: () => void) {
    this.#database = database;
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

  /** How many commits were tried, counted before any caller hears of its own. */
  get commits(): number {
    return this.#commits;
  }

  /** Whether the last commit found no room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Refuses further changes and waits for those under way. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the loop lets every request that has just arrived join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      await commit(this.#database, this.#waiting.splice(0, LARGEST_BATCH), {
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

// A caller whose change threw was told already; settling its promise a second time does nothing.
async function commit<Tables>(
  database: Kysely<Tables>,
  batch: readonly Waiting<Tables>[],
  { check, ended }: { readonly check: () => void; readonly ended: (failed: Failed | null) => void },
): Promise<void> {
  try {
    check();
    await database.transaction().execute(async (transaction) => {
      for (const waiting of batch) await runApart(transaction, waiting);
    });
  } catch (error) {
    ended({ error });
    for (const { lost } of batch) lost(error);
    return;
  }
  ended(null);
  for (const { committed } of batch) committed();
}

async function runApart<Tables>(transaction: Transaction<Tables>, { run }: Waiting<Tables>): Promise<void> {
  await sql`SAVEPOINT change`.execute(transaction);
  const failed = await run(transaction);
  if (failed !== null) await rollBackTo(transaction, "change", failed.error);
  await sql`RELEASE change`.execute(transaction);
}
