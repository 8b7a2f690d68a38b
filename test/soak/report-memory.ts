import { renameSync, writeFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

// Loaded by the daemon of a soak, before its own code: on SIGUSR2 it writes what is in use after a collection, in kilobytes.
const file = process.env.SOAK_MEMORY_FILE;
if (isMainThread && file !== undefined) {
  process.on("SIGUSR2", () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync(`${file}.new`, `${Math.round((heapUsed + external) / 1024)}`);
    renameSync(`${file}.new`, file);
  });
}
