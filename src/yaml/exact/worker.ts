import { parentPort } from "node:worker_threads";
import type { ReadOptions } from "../document.ts";
import { parseFile } from "../parse.ts";
import { type PackedFile, pack } from "./packed.ts";
import { exactReader } from "./read.ts";

/** One file to be read. */
export type Job = { readonly bytes: Uint8Array<ArrayBuffer>; readonly options: ReadOptions };

// That it is there, and then one answer to each job.
const say = (answer: PackedFile | "ready") => parentPort?.postMessage(answer);

parentPort?.on("message", ({ bytes, options }: Job) => {
  const parsed = parseFile(bytes, options, exactReader);
  say(parsed === null ? { faults: [], documents: [] } : pack(parsed, options.limits));
});
say("ready");
