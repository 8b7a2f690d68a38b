import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { CommitRequest, CommitResult } from "./committer.ts";
import { packChanges } from "./packed-changes.ts";
import type { Statement } from "./statement.ts";
import { StoreError, storageErrorText, storeErrorCode } from "./store-error.ts";

// The sources have it beside them, the bundle has it at its top under the same name.
const COMMITTER = new URL(`./committer${extname(import.meta.url)}`, import.meta.url);

// It hands on what it is given and keeps nothing.
const YOUNG = { maxYoungGenerationSizeMb: 4 };

type Waiting = {
  readonly statements: readonly Statement[];
  readonly committed: () => void;
  readonly lost: (error: unknown) => void;
};

/**
 * Commits to a SQLite file in a thread of its own, so that no flush to the disk holds up what runs here. What comes while
 * a commit is under way shares the next one. The thread starts with the first change.
 */
export class CommitThread {
  readonly #path: string;
  #waiting: Waiting[] = [];
  #worker: Worker | null = null;
  #draining: Promise<void> | null = null;
  #failure: StoreError | null = null;
  #answered = Promise.withResolvers<readonly CommitResult[]>();
  #closed = false;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Resolves once all the statements are durable, together; none of them is there when it rejects.
   */
  commit(statements: readonly Statement[]): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ statements, committed: resolve, lost: reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Refuses further changes, waits for those under way and ends the thread. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    worker.ref();
    worker.once("exit", () => resolve());
    tell(worker, "end");
    await ended;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the loop lets every change that has just come join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#commit(batch);
    }
    this.#draining = null;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const verdicts = await this.#ask(batch.map(({ statements }) => statements));
      for (const [at, { committed, lost }] of batch.entries()) {
        const verdict = verdicts[at] ?? null;
        if (verdict === null) committed();
        else lost(errorFrom(verdict, this.#path));
      }
    } catch (error) {
      for (const { lost } of batch) lost(error);
    }
  }

  async #ask(changes: readonly (readonly Statement[])[]): Promise<readonly CommitResult[]> {
    if (this.#failure !== null) throw this.#failure;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#answered = Promise.withResolvers();
    // Waiting for a commit is work; waiting for the next change must keep no process alive.
    worker.ref();
    tell(worker, packChanges(changes));
    const verdicts = await this.#answered.promise;
    worker.unref();
    return verdicts;
  }

  #start(): Worker {
    const worker = new Worker(COMMITTER, { workerData: this.#path, env: {}, execArgv: [], resourceLimits: YOUNG });
    worker.on("message", (verdicts: readonly CommitResult[]) => this.#answered.resolve(verdicts));
    worker.on("error", (cause) => this.#fail(cause));
    worker.on("exit", () => this.#fail(undefined));
    return worker;
  }

  // What it did last is not known, so nothing more is given to another one.
  #fail(cause: unknown): void {
    this.#worker = null;
    this.#failure ??= new StoreError("failed", `${this.#path}: the thread that commits has ended`, { cause });
    this.#answered.promise.catch(() => undefined);
    this.#answered.reject(this.#failure);
  }
}

function tell(worker: Worker, order: CommitRequest): void {
  worker.postMessage(order, order === "end" ? [] : [order.bytes.buffer]);
}

function errorFrom({ message, code, errcode }: NonNullable<CommitResult>, path: string): Error {
  const cause = Object.assign(new Error(message), code === null ? {} : { code }, errcode === null ? {} : { errcode });
  const fault = storeErrorCode(cause);
  return fault === null ? cause : new StoreError(fault, `${path}: ${storageErrorText(cause)}`, { cause });
}
