import { spawn } from "node:child_process";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { BlobCollector, CommitReads, SharedRead } from "./commit-reads.ts";
import { environmentOf, folderOf } from "./git.ts";
import type { Repository } from "./repository-paths.ts";

/** How long what was read stays after the last read. */
const IDLE_MS = 10_000;
/** How many commits are remembered while reads follow each other without an end; targets rarely differ by more. */
const MOST = 8;

/** A repository of ours whose reads share what they have read, for as long as they follow each other. */
export function shareCommitReads(repository: Repository, clock: Pick<Clock, "after">): Repository {
  const memos: Map<string, unknown>[] = [];
  let blobs: BlobProcess | null = null;
  let idle: Disposable | null = null;
  let users = 0;
  const release = (): void => {
    idle?.[Symbol.dispose]();
    idle = null;
    for (const memo of memos) memo.clear();
    blobs?.end();
    blobs = null;
  };
  const whileInUse = async <Value>(read: () => Promise<Value>): Promise<Value> => {
    idle?.[Symbol.dispose]();
    idle = null;
    users += 1;
    try {
      return await read();
    } finally {
      users -= 1;
      if (users === 0) idle = clock.after(IDLE_MS, release, { ref: false });
    }
  };
  const sharedRead = <Value>(): SharedRead<Value> => {
    const memo = new Map<string, Promise<Value>>();
    memos.push(memo);
    return (key, { signal }, read) =>
      whileInUse(async () => {
        const earlier = memo.get(key);
        if (earlier !== undefined) {
          // A read that another reader has stopped is read again.
          const known = await earlier.then(
            (value) => ({ value }),
            () => null,
          );
          signal.throwIfAborted();
          if (known !== null) return known.value;
        }
        const reading = read();
        memo.set(key, reading);
        for (const oldest of memo.keys()) if (memo.size > MOST) memo.delete(oldest);
        return reading.catch((error: unknown) => {
          if (memo.get(key) === reading) memo.delete(key);
          throw error;
        });
      });
  };
  const reads: CommitReads = {
    trees: sharedRead(),
    changes: sharedRead(),
    outputs: sharedRead(),
    collect: (ids, collector, stop) =>
      whileInUse(() => {
        blobs ??= new BlobProcess(repository);
        return blobs.collect(ids, collector, stop);
      }),
    release,
  };
  return { ...repository, reads };
}

/** A git process that reads blobs, one request after the other. It ends with this process, whose pipe it reads. */
class BlobProcess {
  readonly #repository: Repository;
  #child: ReturnType<typeof startReader> | null = null;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  collect(ids: readonly string[], collector: BlobCollector, stop: Stop): Promise<void> {
    const read = this.#turn.then(() => this.#collect(ids, collector, stop));
    this.#turn = read.catch(() => undefined);
    return read;
  }

  end(): void {
    this.#child?.stdin.end();
    this.#child = null;
  }

  #start(): ReturnType<typeof startReader> {
    const child = startReader(this.#repository);
    this.#child = child;
    // One that has ended answers no further request.
    child.once("close", () => {
      if (this.#child === child) this.#child = null;
    });
    return child;
  }

  async #collect(ids: readonly string[], collector: BlobCollector, { signal }: Stop): Promise<void> {
    signal.throwIfAborted();
    const child = this.#child ?? this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const take = (part: Buffer): void => {
      collector.add(part);
      if (collector.isDone()) resolve();
    };
    const stopped = (): void => reject(signal.reason);
    const closed = (): void => resolve();
    child.stdout.on("data", take);
    child.on("error", reject).on("close", closed);
    signal.addEventListener("abort", stopped, { once: true });
    child.stdin.write(`${ids.join("\n")}\n`);
    let isWhole = false;
    try {
      await promise;
      isWhole = collector.contents.length === ids.length;
    } finally {
      child.stdout.off("data", take);
      child.off("error", reject).off("close", closed);
      signal.removeEventListener("abort", stopped);
      // What it still prints belongs to no later request.
      if (!isWhole) {
        child.kill();
        this.#child = null;
      }
    }
  }
}

function startReader(repository: Repository) {
  const child = spawn("git", ["cat-file", "--batch"], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  return child;
}
