import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { releaseBuffer } from "../contract/release-buffer.ts";
import { ensureOwnFolder } from "../files/own-folder.ts";
import { readOwnFile } from "../files/read-own-file.ts";
import { replaceFile } from "../files/write-file.ts";
import { sealChunks, unseal } from "./seal.ts";
import type { SealKey } from "./seal-key.ts";

/** The maximum size of a cache. */
const MAX_BYTES = 512 * 1024 * 1024;

/** Reads a sealed file as text; null when it is absent, damaged, or was sealed with another key or name. */
export function readSealed(path: string, key: SealKey, name: string): string | null {
  try {
    const sealed = readOwnFile(path, { limit: MAX_BYTES });
    if (sealed === null) return null;
    const content = unseal(key, sealed, name);
    releaseBuffer(sealed);
    const text = content.toString("utf8");
    releaseBuffer(content);
    return text;
  } catch {
    return null;
  }
}

/**
 * Writes a sealed file atomically. The file is not synced to the disk, so it is only for content that can be computed
 * again. Returns the error if it could not be written, null otherwise.
 */
export function writeSealed(
  path: string,
  { key, name, clock }: { readonly key: SealKey; readonly name: string; readonly clock: Clock },
  content: string | Chunks,
): unknown {
  try {
    ensureOwnFolder(dirname(path));
    replaceFile(path, sealChunks(key, typeof content === "string" ? [content] : content, name));
    deleteAbandoned(path, clock);
    return null;
  } catch (error) {
    return error;
  }
}

/** Content that is never in memory as a whole. */
type Chunks = Generator<string>;

/** After this time no run still uses its temporary file. */
const ABANDONED_MS = 60_000;

// Runs that were killed before the rename leave their temporary file.
function deleteAbandoned(path: string, clock: Clock): void {
  const folder = dirname(path);
  const beginning = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    const left = join(folder, name);
    if (name.startsWith(beginning) && clock.now() - lstatSync(left).mtimeMs > ABANDONED_MS)
      attempt(() => rmSync(left, { force: true }));
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // Cleaning up is optional.
  }
}
