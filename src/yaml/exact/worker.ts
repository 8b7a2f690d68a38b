import { threadCpuUsage } from "node:process";
import type { ReadOptions } from "../document.ts";
import { parseFile } from "../parse-file.ts";
import { exactReader } from "./exact-reader.ts";
import { type PackedFile, pack } from "./pack-file.ts";
import { type FieldOrder, reorderFields } from "./reorder-fields.ts";

/** A request to read one file, or to rewrite one document with its fields in an order. */
export type ReadRequest = {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly options: ReadOptions;
  readonly order: FieldOrder | null;
};

/** A document with its fields in another order. */
export type ReorderedText = { readonly reordered: string };

/** Why a file has no result: it needs too much of something, or the parser itself failed. */
export type RefusedRead = "time" | "memory" | "crash";

/** The parsed file; null in the first message, which reports that the worker is ready. */
export type WorkerReply = {
  readonly file: PackedFile | ReorderedText | RefusedRead | null;
  /** Of the request; null in the first message. */
  readonly id: number | null;
  /** CPU time in milliseconds that the worker's main thread has used. */
  readonly spent: number;
};

function reply(id: number | null, file: WorkerReply["file"]): void {
  const { user, system } = threadCpuUsage();
  const message: WorkerReply = { id, file, spent: (user + system) / 1000 };
  process.send?.(message);
}

function read({ bytes, options, order }: ReadRequest): PackedFile | ReorderedText | RefusedRead {
  try {
    if (order !== null) return { reordered: reorderFields(Buffer.from(bytes).toString("utf8"), order) };
    const parsed = parseFile(bytes, options, exactReader);
    return parsed === null ? { faults: [], documents: [] } : pack(parsed, options.limits);
  } catch (error) {
    // An oversized string or a stack overflow is a RangeError.
    return error instanceof RangeError ? "memory" : "crash";
  }
}

process.on("message", (request: ReadRequest) => reply(request.id, read(request)));
reply(null, null);
