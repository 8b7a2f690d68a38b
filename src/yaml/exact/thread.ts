import { once } from "node:events";
import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { ParsedFile, ReadOptions } from "../document.ts";
import { fault } from "../fault.ts";
import { type PackedFile, unpack } from "./packed.ts";
import type { Job } from "./worker.ts";

/** What reading one file may cost. */
export type Cost = {
  /** Of the processor's time, so that a busy machine refuses no file. */
  readonly milliseconds: number;
  readonly mebibytes: number;
};

/** The cost that is allowed unless told otherwise. */
const mostCost: Cost = { milliseconds: 2000, mebibytes: 64 };

/** How many times its share of the processor's time a file may take by the clock. */
const PATIENCE = 15;

/** The part of the memory that holds what is alive for a moment only. */
const YOUNG_SHARE = 1 / 4;

// The sources have the worker beside them, the bundle has it at its top under the same name.
const WORKER = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Reads files in a thread of its own, one at a time, so that none can hold up the rest or take more than is allowed.
 * The thread starts when it is first needed, is replaced when a file was too much for it, and ends with its owner.
 */
export class ExactThread {
  readonly #most: Cost;
  readonly #ended = new AbortController();
  #worker: Worker | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(most: Cost = mostCost) {
    this.#most = most;
  }

  /** Reads a file with the exact reader at hand; a file that costs too much has that as its fault. */
  read(bytes: Uint8Array, options: ReadOptions): Promise<ParsedFile> {
    const answer = this.#turn.then(() => this.#ask(bytes, options));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.#stop();
  }

  async #ask(bytes: Uint8Array, options: ReadOptions): Promise<ParsedFile> {
    this.#ended.signal.throwIfAborted();
    const answer = await this.#answerOf({ bytes: new Uint8Array(bytes), options });
    if (typeof answer === "object") return unpack(answer, bytes, options.limits);
    await this.#stop();
    return { text: "", faults: [REFUSED[answer]], documents: [] };
  }

  async #answerOf(job: Job): Promise<PackedFile | Refused> {
    try {
      this.#worker ??= await start(this.#most);
    } catch (error) {
      return refusedBy(error);
    }
    // Waiting for an answer is work; waiting for the next file must keep no process alive.
    this.#worker.ref();
    const answer = await answerOf(this.#worker, job, this.#most, { signal: this.#ended.signal });
    this.#worker.unref();
    return answer;
  }

  async #stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
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

async function start({ mebibytes }: Cost): Promise<Worker> {
  const maxYoungGenerationSizeMb = Math.ceil(mebibytes * YOUNG_SHARE);
  const maxOldGenerationSizeMb = mebibytes - maxYoungGenerationSizeMb;
  const resourceLimits = { maxOldGenerationSizeMb, maxYoungGenerationSizeMb };
  const worker = new Worker(WORKER, { env: {}, execArgv: [], resourceLimits });
  // Whoever waits for an answer hears of an error; without a listener of its own it would end the process besides.
  worker.on("error", () => undefined);
  await once(worker, "message");
  return worker;
}

async function answerOf(
  worker: Worker,
  job: Job,
  { milliseconds }: Cost,
  { signal }: { signal: AbortSignal },
): Promise<PackedFile | Refused> {
  const done = new AbortController();
  const stop = { signal: AbortSignal.any([signal, done.signal]) };
  worker.postMessage(job, [job.bytes.buffer]);
  try {
    const answer = once(worker, "message", stop).then(([packed]: PackedFile[]) => packed);
    return (await Promise.race([answer, overdue(worker, milliseconds, stop), gone(worker, stop)])) ?? "crash";
  } catch (error) {
    signal.throwIfAborted();
    return refusedBy(error);
  } finally {
    done.abort();
  }
}

// A string or a stack that grew too large is a RangeError.
function refusedBy(error: unknown): Refused {
  if (error instanceof RangeError) return "memory";
  const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  return isTooMuch ? "memory" : "crash";
}

// One that failed says so before it goes.
async function gone(worker: Worker, stop: { signal: AbortSignal }): Promise<"crash"> {
  await once(worker, "exit", stop);
  return "crash";
}

async function overdue(worker: Worker, milliseconds: number, { signal }: { signal: AbortSignal }): Promise<"time"> {
  const since = performance.now();
  const before = spent(worker, since);
  let left = milliseconds;
  while (left > 0 && performance.now() - since < PATIENCE * milliseconds) {
    await setTimeout(left, undefined, { signal });
    left = milliseconds - ((await spent(worker, since)) - (await before));
  }
  return "time";
}

/** Milliseconds of the processor's time that a thread has used; by the clock where Node cannot tell. */
async function spent(worker: Worker, since: number): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return performance.now() - since;
  }
}
