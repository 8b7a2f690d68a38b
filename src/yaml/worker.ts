import { parentPort } from "node:worker_threads";
import { parseFile, type Reading } from "./document.ts";
import { parseExact } from "./exact.ts";
import { type PackedFile, pack } from "./packed.ts";

/** One file to be read. */
export type Job = { readonly bytes: Uint8Array<ArrayBuffer>; readonly reading: Reading };

// That it is there, and then one answer to each job.
const say = (answer: PackedFile | "ready") => parentPort?.postMessage(answer);

parentPort?.on("message", ({ bytes, reading }: Job) => {
  const parsed = parseFile(bytes, reading, parseExact);
  say(parsed === null ? { faults: [], documents: [] } : pack(parsed, reading.limits));
});
say("ready");
