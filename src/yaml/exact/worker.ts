import { threadCpuUsage } from "node:process";
import { parentPort } from "node:worker_threads";
import type { ReadOptions } from "../document.ts";
import { parseFile } from "../parse-file.ts";
import { exactReader } from "./exact-reader.ts";
import { type PackedFile, pack } from "./pack-file.ts";

/** A request to read one file. */
export type ReadRequest = {
  readonly id: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly options: ReadOptions;
};

/** The parsed file; null in the first message, which reports that the worker is ready. */
export type WorkerReply = {
  readonly file: PackedFile | null;
  /** Of the request; null in the first message. */
  readonly id: number | null;
  /** CPU time in milliseconds that the worker has used. */
  readonly spent: number;
};

function reply(id: number | null, file: PackedFile | null): void {
  const { user, system } = threadCpuUsage();
  const message: WorkerReply = { id, file, spent: (user + system) / 1000 };
  parentPort?.postMessage(message);
}

parentPort?.on("message", (request: ReadRequest | null) => {
  // Without its port, the thread has nothing to wait for.
  if (request === null) return parentPort?.close();
  const { id, bytes, options } = request;
  const parsed = parseFile(bytes, options, exactReader);
  reply(id, parsed === null ? { faults: [], documents: [] } : pack(parsed, options.limits));
});
reply(null, null);
