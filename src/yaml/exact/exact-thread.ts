import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ParsedFile, ReadOptions } from "../document.ts";
import { fault } from "../fault.ts";
import { unpack } from "./pack-file.ts";
import type { ReadRequest, WorkerReply } from "./worker.ts";

/** The limits on time and memory for reading one file. */
export type Cost = {
  /** CPU time, so that a busy machine refuses no file. */
  readonly milliseconds: number;
  readonly mebibytes: number;
};

/** The default cost limits. */
const mostCost: Cost = { milliseconds: 2000, mebibytes: 64 };

/** The wall-clock timeout of a file, as a multiple of its CPU time limit. */
const TIMEOUT_FACTOR = 15;

/** The share of the memory for V8's young generation. */
const YOUNG_SHARE = 1 / 4;

/** Number of files sent to the worker at once, so that it never waits for the next one. */
const AHEAD = 16;

// The worker file is next to this one in the sources, and under the same name at the top of the bundle.
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

type Job = PromiseWithResolvers<ParsedFile> & {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly options: ReadOptions;
};

/**
 * Reads files with the exact reader in a separate thread, one at a time, so that no file can block the others or exceed
 * its limits. The thread starts on first use, is replaced when a file exceeds the limits, and ends with its owner.
 */
export class ExactThread implements AsyncDisposable {
  readonly #most: Cost;
  readonly #ended = new AbortController();
  readonly #waiting: Job[] = [];
  /** The jobs sent to the worker; it works on the first. */
  #sent: readonly Job[] = [];
  #worker: Worker | null = null;
  /** Why the worker is about to end; null while it is not. */
  #refused: Refused | null = null;
  #lastId = 0;
  #isReady = false;
  #isWatched = false;
  /** CPU time in milliseconds that the worker had used at its last reply. */
  #spentBefore = 0;

  constructor(most: Cost = mostCost) {
    this.#most = most;
  }

  /** Reads a file, with the exact reader where needed; a file that exceeds the limits has that as its fault. */
  async read(bytes: Uint8Array, options: ReadOptions): Promise<ParsedFile> {
    this.#ended.signal.throwIfAborted();
    this.#lastId += 1;
    const job = { ...Promise.withResolvers<ParsedFile>(), id: this.#lastId, bytes, options };
    this.#waiting.push(job);
    this.#send();
    return job.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    for (const { reject } of [...this.#sent, ...this.#waiting.splice(0)]) reject(this.#ended.signal.reason);
    const worker = this.#worker;
    this.#worker = null;
    if (worker === null) return;
    // Node may crash when it terminates a thread that is starting, so a thread without work ends by itself.
    if (this.#sent.length > 0) await worker.terminate();
    else await endOf(worker);
  }

  #send(): void {
    const worker = this.#worker ?? this.#start();
    if (!this.#isReady) return;
    const next = this.#waiting.splice(0, AHEAD - this.#sent.length);
    this.#sent = [...this.#sent, ...next];
    for (const { id, bytes, options } of next) {
      const request: ReadRequest = { id, bytes: new Uint8Array(bytes), options };
      worker.postMessage(request, [request.bytes.buffer]);
    }
    // A pending reply keeps the process alive; an idle worker does not.
    if (this.#sent.length === 0) worker.unref();
    else worker.ref();
    // The only possible error is that the owner has ended, which the waiting callers also receive.
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
    worker.on("message", (reply: WorkerReply) => {
      if (this.#worker === worker) this.#receive(worker, reply);
    });
    // A reply that cannot be received is lost: without this, the next one would be taken for it.
    worker.on("messageerror", () => {
      if (this.#worker === worker) this.#stop(worker, "crash");
    });
    worker.on("error", (error) => {
      this.#refused ??= refusedBy(error);
    });
    worker.on("exit", () => {
      if (this.#worker === worker) this.#replace();
    });
    return worker;
  }

  #receive(worker: Worker, { id, file, spent }: WorkerReply): void {
    const [job, ...others] = this.#sent;
    if (file !== null && job?.id !== id) {
      this.#stop(worker, "crash");
      return;
    }
    this.#spentBefore = spent;
    this.#isReady = true;
    this.#sent = file === null ? this.#sent : others;
    if (file !== null) job?.resolve(unpack(file, job.bytes, job.options.limits));
    this.#send();
  }

  #stop(worker: Worker, why: Refused): void {
    this.#refused = why;
    this.#isReady = false;
    // A late reply would cause the next job to be refused instead of this one.
    worker.removeAllListeners("message");
    worker.terminate().catch(() => undefined);
  }

  // Called only after the thread has exited: Node may crash if one thread starts while another ends. The first job is
  // the one that exceeded the limits.
  #replace(): void {
    const [job = this.#waiting.shift(), ...others] = this.#sent;
    const why = this.#refused ?? "crash";
    this.#worker = null;
    this.#refused = null;
    this.#sent = [];
    this.#waiting.unshift(...others);
    job?.resolve({ text: "", faults: [REFUSED[why]], documents: [] });
    if (this.#waiting.length > 0) this.#send();
  }

  async #watch(): Promise<void> {
    const { milliseconds } = this.#most;
    const { signal } = this.#ended;
    this.#isWatched = true;
    try {
      let [job] = this.#sent;
      let [left, since] = [milliseconds, performance.now()];
      for (let worker = this.#worker; job !== undefined && worker !== null; worker = this.#worker) {
        if (left <= 0 || performance.now() - since > TIMEOUT_FACTOR * milliseconds) return this.#stop(worker, "time");
        await setTimeout(left, undefined, { signal, ref: false });
        const spent = await spentBy(worker, since);
        const [now] = this.#sent;
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

/** Why the thread did not reply. */
type Refused = keyof typeof REFUSED;

// An oversized string or a stack overflow is a RangeError.
function refusedBy(error: unknown): Refused {
  if (error instanceof RangeError) return "memory";
  const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isTooMuch ? "memory" : "crash";
}

/** Asks a thread to end, and waits until it has. */
function endOf(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    worker.once("exit", () => resolve());
    worker.ref();
    worker.postMessage(null);
  });
}

/** CPU time in milliseconds that a thread has used; wall-clock time if Node cannot report it. */
async function spentBy(worker: Worker, since: number): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return performance.now() - since;
  }
}
