import { threadCpuUsage } from "node:process";
import { parentPort } from "node:worker_threads";
import type { ReadOptions } from "../document.ts";
import { parseFile } from "../parse-file.ts";
import { exactReader } from "./exact-reader.ts";
import { type PackedFile, pack } from "./pack-file.ts";

/** One file to be read. */
export type Question = { readonly bytes: Uint8Array<ArrayBuffer>; readonly options: ReadOptions };

/** What was read; null at first, which says that the worker is there. */
export type WorkerReply = {
  readonly file: PackedFile | null;
  /** Milliseconds of the processor's time that the worker has used so far. */
  readonly spent: number;
};

function say(file: PackedFile | null): void {
  const { user, system } = threadCpuUsage();
  const answer: WorkerReply = { file, spent: (user + system) / 1000 };
  parentPort?.postMessage(answer);
}

parentPort?.on("message", ({ bytes, options }: Question) => {
  const parsed = parseFile(bytes, options, exactReader);
  say(parsed === null ? { faults: [], documents: [] } : pack(parsed, options.limits));
});
say(null);
