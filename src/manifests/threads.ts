import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { SourceFile } from "../source/revision.ts";
import type { Outline } from "./outline.ts";
import { readOutline } from "./outline-text.ts";
import type { ReadApart, SentFile, ThreadRules } from "./thread.ts";

/** A file as another thread has read it. */
export type Lent = { readonly content: Outline; readonly values: readonly string[] };

/** Files that are read from both ends: here from the first on, by other threads from the last on. */
export type SharedReading = AsyncDisposable & {
  /** The next file to read here; undefined when every one is taken. */
  readonly next: () => SourceFile | undefined;
  /** Resolves once the other threads have read what they took. */
  readonly rest: () => Promise<void>;
};

/** What the other threads are told, and whom they tell. */
export type Sharing = {
  readonly rules: ThreadRules;
  /** Hears of each file that another thread has read; null where it has to be read here. */
  readonly onRead: (file: SourceFile, lent: Lent | null) => void;
};

// A thread takes as long to start, and to become fast, as this many files to read.
const WORTH_FILES = 2000;
const MOST_THREADS = 3;
const LARGEST_BATCH = 256;
// More than one, so that a thread has work while its answer waits for its turn here.
const BATCHES_AHEAD = 2;
// What dies young should not take room for long: the answers are all that is kept.
const YOUNG_MB = 8;

// The sources have the thread beside them, the bundle has it at its top under the same name.
const THREAD = new URL(`./thread${extname(import.meta.url)}`, import.meta.url);

/** How many other threads are worth their start for so many files, with so many processors. */
export function threadsFor(files: number, processors: number = availableParallelism()): number {
  // Two processors are mostly one, shared: another thread would take from this one what it gives.
  return files < WORTH_FILES ? 0 : Math.min(MOST_THREADS, Math.max(0, Math.floor(processors / 2) - 1));
}

/** Starts to read files with so many other threads. */
export function shareReading(files: readonly SourceFile[], threadCount: number, sharing: Sharing): SharedReading {
  const left = { from: 0, to: files.length };
  const next = (): SourceFile | undefined => (left.from < left.to ? files[left.from++] : undefined);
  // The smaller the rest, the smaller the batch, so that all are done at the same time.
  const batch = (): readonly SourceFile[] => {
    const size = Math.min(LARGEST_BATCH, Math.ceil((left.to - left.from) / 8));
    left.to -= size;
    return files.slice(left.to, left.to + size);
  };
  const threads = Array.from({ length: threadCount }, () => startThread(batch, sharing));
  return {
    next,
    rest: async () => {
      await Promise.all(threads.map((thread) => (thread.isBusy() ? thread.done : null)));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(threads.map(({ worker }) => worker.terminate()));
    },
  };
}

type Thread = { readonly worker: Worker; readonly isBusy: () => boolean; readonly done: Promise<void> };

function startThread(batch: () => readonly SourceFile[], { rules, onRead }: Sharing): Thread {
  const worker = new Worker(THREAD, { workerData: rules, resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } });
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  // Who waits for the rest hears of it; where reading ends early, nobody does.
  done.catch(() => undefined);
  const taken: (readonly SourceFile[])[] = [];
  let hasFailed = false;
  const give = (): void => {
    const files = batch();
    if (files.length === 0) return;
    taken.push(files);
    worker.postMessage(files.map(sent));
  };
  // A file may have changed since it was listed: that is no fault of the thread, and ends the reading like any other.
  const guarded = (work: () => void): void => {
    if (hasFailed) return;
    try {
      work();
      if (taken.length === 0) resolve();
    } catch (error) {
      hasFailed = true;
      reject(error);
    }
  };
  worker.on("message", (answer: readonly ReadApart[] | "ready") =>
    guarded(() => {
      if (answer === "ready") {
        for (let count = 0; count < BATCHES_AHEAD; count += 1) give();
        return;
      }
      const files = taken.shift() ?? [];
      give();
      for (const [index, file] of files.entries()) onRead(file, lentOf(answer[index] ?? null));
    }),
  );
  // Whatever became of it, its files can be read here.
  const end = (): void =>
    guarded(() => {
      for (const file of taken.splice(0).flat()) onRead(file, null);
    });
  worker.on("error", end);
  worker.on("exit", end);
  return { worker, isBusy: () => hasFailed || taken.length > 0, done };
}

// A copy, since what is cloned is the whole buffer that the bytes may be a part of.
function sent(file: SourceFile): SentFile {
  const { path, display, size } = file;
  return { path, display, size, bytes: new Uint8Array(file.bytes()) };
}

function lentOf(read: ReadApart): Lent | null {
  const content = read && readOutline(read.content);
  return content && { content, values: read.values };
}
