import { threadCpuUsage } from "node:process";
import { parentPort } from "node:worker_threads";
import type { ReadOptions } from "../document.ts";
import { parseFile } from "../parse-file.ts";
import { exactReader } from "./exact-reader.ts";
import { type PackedFile, pack } from "./pack-file.ts";

/** A request to read one file. */
export type ReadRequest = { readonly bytes: Uint8Array<ArrayBuffer>; readonly options: ReadOptions };

/** The parsed file; null in the first message, which reports that the worker is ready. */
export type WorkerReply = {
  readonly file: PackedFile | null;
  /** CPU time in milliseconds that the worker has used. */
  readonly spent: number;
};

function reply(file: PackedFile | null): void {
  const { user, system } = threadCpuUsage();
  const message: WorkerReply = { file, spent: (user + system) / 1000 };
  parentPort?.postMessage(message);
}

parentPort?.on("message", ({ bytes, options }: ReadRequest) => {
  const parsed = parseFile(bytes, options, exactReader);
  reply(parsed === null ? { faults: [], documents: [] } : pack(parsed, options.limits));
});
reply(null);
