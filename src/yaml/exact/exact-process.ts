// biome-ignore-all lint/plugin: it waits for a process, which goes by real time
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { extname } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ParsedFile, ReadOptions } from "../document.ts";
import { fault } from "../fault.ts";
import { type PackedFile, unpack } from "./pack-file.ts";
import type { FieldOrder } from "./reorder-fields.ts";
import type { ReadRequest, RefusedRead, ReorderedText, WorkerReply } from "./worker.ts";

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

/** The share of the memory for a semi-space of V8, whose young generation has three of them. */
const SEMI_SPACE_SHARE = 1 / 12;

/** Of Linux, on every architecture that Node supports. */
const MS_PER_TICK = 10;

/** Number of files sent to the worker at once, so that it never waits for the next one. */
const AHEAD = 16;

// The worker file is next to this one in the sources, and under the same name at the top of the bundle.
const WORKER = fileURLToPath(new URL(`./worker${extname(import.meta.url)}`, import.meta.url));

// A second process reads a pipe whose other end only this process has: once this process ends, however it ends, it kills
// the worker, which may be busy. A worker that exceeds its memory writes no core file.
const WITH_PARENT = `
ulimit -c 0
{ read -r line <&4; kill -KILL 0; } </dev/null >/dev/null 2>&1 3<&- &
exec "$@" 4<&-`;

type Job = PromiseWithResolvers<ParsedFile> & {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly options: ReadOptions;
  readonly order: FieldOrder | null;
};

/**
 * Reads files with the exact reader in a separate process, one at a time, so that no file can block the others, exceed
 * its limits, or end this process. The worker starts on first use, is replaced when a file exceeds the limits, and ends
 * with its owner.
 */
export class ExactProcess implements AsyncDisposable {
  readonly #most: Cost;
  readonly #ended = new AbortController();
  readonly #waiting: Job[] = [];
  /** The jobs sent to the worker; it works on the first. */
  #sent: readonly Job[] = [];
  #worker: ChildProcess | null = null;
  /** Why the worker is about to end; null while it is not. */
  #refused: RefusedRead | null = null;
  #lastId = 0;
  #isReady = false;
  #isWatched = false;
  /** CPU time in milliseconds that the worker had used at its last reply. */
  #spentBefore = 0;

  constructor(most: Cost = mostCost) {
    this.#most = most;
  }

  /**
   * Reads a file, with the exact reader where needed; a file that exceeds the limits has that as its fault. Throws the
   * system's error if no process can be started.
   */
  async read(bytes: Uint8Array, options: ReadOptions): Promise<ParsedFile> {
    return this.#request(bytes, options, null);
  }

  /** The text of a document with the fields of its mappings in another order; null if it cannot be rewritten. */
  async reorder(text: string, options: ReadOptions, order: FieldOrder): Promise<string | null> {
    const file = await this.#request(Buffer.from(text), options, order);
    return file.faults.length === 0 ? file.text : null;
  }

  async #request(bytes: Uint8Array, options: ReadOptions, order: FieldOrder | null): Promise<ParsedFile> {
    this.#ended.signal.throwIfAborted();
    this.#lastId += 1;
    const job = { ...Promise.withResolvers<ParsedFile>(), id: this.#lastId, bytes, options, order };
    this.#waiting.push(job);
    this.#send();
    return job.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    this.#rejectAll(this.#ended.signal.reason);
    const worker = this.#worker;
    this.#worker = null;
    if (worker === null) return;
    const closed = once(worker, "close");
    setReferenced(worker, true);
    worker.kill("SIGKILL");
    await closed;
  }

  #rejectAll(reason: unknown): void {
    const jobs = [...this.#sent, ...this.#waiting.splice(0)];
    this.#sent = [];
    for (const { reject } of jobs) reject(reason);
  }

  #send(): void {
    const worker = this.#worker ?? this.#start();
    if (worker === null || !this.#isReady) return;
    const next = this.#waiting.splice(0, AHEAD - this.#sent.length);
    this.#sent = [...this.#sent, ...next];
    for (const { id, bytes, options, order } of next) {
      const request: ReadRequest = { id, bytes, options, order };
      // Where the worker has ended, its last event gives the jobs to the next one.
      worker.send(request, () => undefined);
    }
    // A pending reply keeps this process alive; an idle worker does not.
    setReferenced(worker, this.#sent.length > 0);
    // The only possible error is that the owner has ended, which the waiting callers also receive.
    if (!this.#isWatched) this.#watch().catch(() => undefined);
  }

  #start(): ChildProcess | null {
    this.#isReady = false;
    const { mebibytes } = this.#most;
    const semiSpace = Math.ceil(mebibytes * SEMI_SPACE_SHARE);
    const limits = [`--max-semi-space-size=${semiSpace}`, `--max-old-space-size=${mebibytes - 3 * semiSpace}`];
    try {
      const worker = startWorker(limits);
      worker.on("message", (reply: WorkerReply) => {
        if (this.#worker === worker) this.#receive(worker, reply);
      });
      worker.on("error", (error) => {
        if (this.#worker === worker && worker.pid === undefined) this.#fail(error);
      });
      const pipe = worker.stdio[4];
      if (pipe instanceof Socket) pipe.unref();
      // The second process ends once this end of its pipe is closed.
      worker.on("exit", () => pipe?.destroy());
      // Replies that were sent before the end arrive before this event.
      worker.on("close", (code, end) => {
        if (this.#worker === worker) this.#replace(code, end);
      });
      this.#worker = worker;
    } catch (error) {
      this.#fail(error);
    }
    return this.#worker;
  }

  #fail(error: unknown): void {
    this.#worker = null;
    this.#rejectAll(error);
  }

  #receive(worker: ChildProcess, { id, file, spent }: WorkerReply): void {
    const [job, ...others] = this.#sent;
    if (this.#refused !== null) return;
    if (file !== null && job?.id !== id) {
      this.#stop(worker, "crash");
      return;
    }
    this.#spentBefore = spent;
    this.#isReady = true;
    this.#sent = file === null ? this.#sent : others;
    if (file !== null) job?.resolve(resultOf(job, file));
    this.#send();
  }

  #stop(worker: ChildProcess, why: RefusedRead): void {
    this.#refused = why;
    this.#isReady = false;
    worker.kill("SIGKILL");
  }

  // The first job is the one that exceeded the limits.
  #replace(code: number | null, end: NodeJS.Signals | null): void {
    if (this.#refused === null && !this.#isReady) {
      this.#fail(new Error(`the process that reads YAML could not be started: ${end ?? `exit code ${code}`}`));
      return;
    }
    const why = this.#refused ?? refusedBy(end);
    const [job, ...others] = this.#sent;
    this.#worker = null;
    this.#refused = null;
    this.#sent = [];
    this.#waiting.unshift(...others);
    job?.resolve(refusal(why));
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
        const [now] = this.#sent;
        if (now !== job) [job, left, since] = [now, milliseconds, performance.now()];
        else left = milliseconds - this.#spentBy(worker, since);
      }
    } finally {
      this.#isWatched = false;
    }
  }

  /** CPU time in milliseconds that the worker has used for its file; wall-clock time where the system does not tell. */
  #spentBy({ pid }: ChildProcess, since: number): number {
    try {
      return cpuTimeOf(pid) - this.#spentBefore;
    } catch {
      return performance.now() - since;
    }
  }
}

function resultOf({ bytes, options }: Job, file: PackedFile | ReorderedText | RefusedRead): ParsedFile {
  if (typeof file === "string") return refusal(file);
  return "reordered" in file
    ? { text: file.reordered, faults: [], documents: [] }
    : unpack(file, bytes, options.limits);
}

const SHELL = "/bin/sh";

function startWorker(limits: readonly string[]): ChildProcess {
  const worker = [process.execPath, WORKER];
  // Where there is no shell, the worker ends with the channel to this process, as soon as it is not busy.
  const [program = "", ...args] = existsSync(SHELL) ? [SHELL, "-c", WITH_PARENT, "sh", ...worker] : worker;
  return spawn(program, args, {
    // A single executable takes no flags of Node from its arguments.
    env: { NODE_OPTIONS: limits.join(" ") },
    serialization: "advanced",
    // In its own group, the interrupt key of a terminal does not reach it, and the second process can end it.
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc", "pipe"],
  });
}

function setReferenced(worker: ChildProcess, isReferenced: boolean): void {
  const change = isReferenced ? "ref" : "unref";
  worker[change]();
  worker.channel?.[change]();
}

/** CPU time in milliseconds of the main thread of a process; throws where the system does not tell. */
function cpuTimeOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/task/${pid}/stat`, "utf8");
  // proc_pid_stat(5): utime and stime, in ticks, are fields 14 and 15; field 2, in parentheses, may contain blanks.
  const [utime, stime] = status
    .slice(status.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 13);
  return (Number(utime) + Number(stime)) * MS_PER_TICK;
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

function refusal(why: RefusedRead): ParsedFile {
  return { text: "", faults: [REFUSED[why]], documents: [] };
}

// V8 aborts at its limit, and the system kills what needs too much.
function refusedBy(signal: NodeJS.Signals | null): RefusedRead {
  return signal === "SIGABRT" || signal === "SIGKILL" ? "memory" : "crash";
}
