import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ParsedFile, ReadOptions } from "../document.ts";
import { fault } from "../fault.ts";
import { unpack } from "./pack-file.ts";
import type { Question, WorkerReply } from "./worker.ts";

/** The limits on time and memory for reading one file. */
export type Cost = {
  /** Of the processor's time, so that a busy machine refuses no file. */
  readonly milliseconds: number;
  readonly mebibytes: number;
};

/** The cost that is allowed unless told otherwise. */
const mostCost: Cost = { milliseconds: 2000, mebibytes: 64 };

/** The timeout of a file by the clock, as a multiple of the processor's time that it may take. */
const TIMEOUT_FACTOR = 15;

/** The part of the memory that holds what is alive for a moment only. */
const YOUNG_SHARE = 1 / 4;

/** Files that the worker has at a time, so that it never waits for the next one. */
const AHEAD = 16;

// The sources have the worker beside them, the bundle has it at its top under the same name.
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

type Job = PromiseWithResolvers<ParsedFile> & { readonly bytes: Uint8Array; readonly options: ReadOptions };

/**
 * Reads files with the exact reader in a thread of its own, one at a time, so that none can hold up the rest or take more than
 * is allowed. The thread starts when it is first needed, is replaced when a file was too much for it, and ends with its owner.
 */
export class ExactThread implements AsyncDisposable {
  readonly #most: Cost;
  readonly #ended = new AbortController();
  readonly #waiting: Job[] = [];
  /** The jobs that the worker has, the one that it works at first. */
  #asked: readonly Job[] = [];
  #worker: Worker | null = null;
  /** Why the worker is about to end; null as long as nothing says so. */
  #refused: Refused | null = null;
  #isReady = false;
  #isWatched = false;
  /** Milliseconds of the processor's time that the worker had used when it answered last. */
  #spentBefore = 0;

  constructor(most: Cost = mostCost) {
    this.#most = most;
  }

  /** Reads a file with the exact reader at hand; a file that costs too much has that as its fault. */
  async read(bytes: Uint8Array, options: ReadOptions): Promise<ParsedFile> {
    this.#ended.signal.throwIfAborted();
    const job = { ...Promise.withResolvers<ParsedFile>(), bytes, options };
    this.#waiting.push(job);
    this.#ask();
    return job.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    for (const { reject } of [...this.#asked, ...this.#waiting.splice(0)]) reject(this.#ended.signal.reason);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #ask(): void {
    const worker = this.#worker ?? this.#start();
    if (!this.#isReady) return;
    const next = this.#waiting.splice(0, AHEAD - this.#asked.length);
    this.#asked = [...this.#asked, ...next];
    for (const { bytes, options } of next) {
      const question: Question = { bytes: new Uint8Array(bytes), options };
      worker.postMessage(question, [question.bytes.buffer]);
    }
    // Waiting for an answer is work; waiting for the next file must keep no process alive.
    if (this.#asked.length === 0) worker.unref();
    else worker.ref();
    // What is thrown is that the owner has ended, which who waits for an answer hears as well.
    if (!this.#isWatched) this.#watch().catch(() => undefined);
  }

  #start(): Worker {
    const { mebibytes } = this.#most;
    const maxYoungGenerationSizeMb = Math.ceil(mebibytes * YOUNG_SHARE);
    const maxOldGenerationSizeMb = mebibytes - maxYoungGenerationSizeMb;
    const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb };
    const worker = new Worker(WORKER, { env: {}, execArgv: [], resourceLimits });
    this.#worker = worker;
    this.#isReady = false;
    worker.on("message", (answer: WorkerReply) => {
      if (this.#worker === worker) this.#hear(answer);
    });
    worker.on("error", (error) => {
      this.#refused ??= refusedBy(error);
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#replace();
    });
    return worker;
  }

  #hear({ file, spent }: WorkerReply): void {
    this.#spentBefore = spent;
    this.#isReady = true;
    const [job, ...others] = this.#asked;
    this.#asked = others;
    if (file !== null) job?.resolve(unpack(file, job.bytes, job.options.limits));
    this.#ask();
  }

  #stop(worker: Worker): void {
    this.#refused = "time";
    this.#isReady = false;
    // An answer that comes too late would have the next job refused in place of this one.
    worker.removeAllListeners("message");
    worker.terminate().catch(() => undefined);
  }

  // Only when its thread is gone: Node may crash where one thread starts while another ends. The job that it worked at is
  // the one that was too much for it.
  #replace(): void {
    const [job = this.#waiting.shift(), ...others] = this.#asked;
    const why = this.#refused ?? "crash";
    this.#worker = null;
    this.#refused = null;
    this.#asked = [];
    this.#waiting.unshift(...others);
    job?.resolve({ text: "", faults: [REFUSED[why]], documents: [] });
    if (this.#waiting.length > 0) this.#ask();
  }

  async #watch(): Promise<void> {
    const { milliseconds } = this.#most;
    const { signal } = this.#ended;
    this.#isWatched = true;
    try {
      let [job] = this.#asked;
      let [left, since] = [milliseconds, performance.now()];
      for (let worker = this.#worker; job !== undefined && worker !== null; worker = this.#worker) {
        if (left <= 0 || performance.now() - since > TIMEOUT_FACTOR * milliseconds) return this.#stop(worker);
        await setTimeout(left, undefined, { signal, ref: false });
        const spent = await spentBy(worker, since);
        const [now] = this.#asked;
        if (now !== job) [job, left, since] = [now, milliseconds, performance.now()];
        else left = milliseconds - (spent - this.#spentBefore);
      }
    } finally {
      this.#isWatched = false;
    }
  }
}

const REMEDY = "Split the file, or write it more simply.";
const REFUSED = {
  time: fault(0, "too-slow", "takes too long to be read", REMEDY),
  memory: fault(0, "too-much-memory", "needs too much memory to be read", REMEDY),
  crash: fault(
    0,
    "unreadable",
    "could not be read: the parser itself failed",
    `Please report it. Until then: ${REMEDY}`,
  ),
} as const;

/** Why the thread has no answer to give. */
type Refused = keyof typeof REFUSED;

// A string or a stack that grew too large is a RangeError.
function refusedBy(error: unknown): Refused {
  if (error instanceof RangeError) return "memory";
  const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isTooMuch ? "memory" : "crash";
}

/** Milliseconds of the processor's time that a thread has used; by the clock where Node cannot tell. */
async function spentBy(worker: Worker, since: number): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return performance.now() - since;
  }
}
