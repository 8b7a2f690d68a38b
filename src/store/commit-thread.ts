import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { CommitRequest, CommitResult } from "./committer.ts";
import { packChanges } from "./packed-changes.ts";
import type { Statement } from "./statement.ts";
import { StoreError, storageErrorText, storeErrorCode } from "./store-error.ts";

// In the sources it is in this folder; in the bundle it is a chunk of the same name.
const COMMITTER = new URL(`./committer${extname(import.meta.url)}`, import.meta.url);

// The thread allocates little.
const YOUNG = { maxYoungGenerationSizeMb: 4 };

type Waiting = {
  readonly statements: readonly Statement[];
  readonly committed: () => void;
  readonly lost: (error: unknown) => void;
};

/**
 * Commits to a SQLite file in a worker thread, so that no fsync blocks this thread. Changes that arrive during a commit
 * share the next one. The worker starts with the first change.
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
   * Resolves when all the statements are durable; when it rejects, none of them is applied.
   */
  commit(statements: readonly Statement[]): Promise<void> {
    if (this.#closed) return Promise.reject(new Error("the database is closed"));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ statements, committed: resolve, lost: reject });
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Refuses further changes, waits for the pending ones and ends the worker. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    worker.ref();
    worker.once("exit", () => resolve());
    send(worker, "end");
    await ended;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop lets changes that have just arrived join the batch.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#commit(batch);
    }
    this.#draining = null;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#request(batch.map(({ statements }) => statements));
      for (const [at, { committed, lost }] of batch.entries()) {
        const result = results[at] ?? null;
        if (result === null) committed();
        else lost(errorFrom(result, this.#path));
      }
    } catch (error) {
      for (const { lost } of batch) lost(error);
    }
  }

  async #request(changes: readonly (readonly Statement[])[]): Promise<readonly CommitResult[]> {
    if (this.#failure !== null) throw this.#failure;
    this.#worker ??= this.#start();
    const worker = this.#worker;
    this.#answered = Promise.withResolvers();
    // The process stays alive while a commit is pending, but not for an idle worker.
    worker.ref();
    send(worker, packChanges(changes));
    const results = await this.#answered.promise;
    worker.unref();
    return results;
  }

  #start(): Worker {
    const worker = new Worker(COMMITTER, { workerData: this.#path, env: {}, execArgv: [], resourceLimits: YOUNG });
    worker.on("message", (results: readonly CommitResult[]) => this.#answered.resolve(results));
    worker.on("error", (cause) => this.#fail(cause));
    worker.on("exit", () => this.#fail(undefined));
    return worker;
  }

  // The outcome of its last commit is unknown, so no other worker is started.
  #fail(cause: unknown): void {
    this.#worker = null;
    this.#failure ??= new StoreError("failed", `${this.#path}: the thread that commits has ended`, { cause });
    this.#answered.promise.catch(() => undefined);
    this.#answered.reject(this.#failure);
  }
}

function send(worker: Worker, request: CommitRequest): void {
  worker.postMessage(request, request === "end" ? [] : [request.bytes.buffer]);
}

function errorFrom({ message, code, errcode }: NonNullable<CommitResult>, path: string): Error {
  const cause = Object.assign(new Error(message), code === null ? {} : { code }, errcode === null ? {} : { errcode });
  const fault = storeErrorCode(cause);
  return fault === null ? cause : new StoreError(fault, `${path}: ${storageErrorText(cause)}`, { cause });
}
