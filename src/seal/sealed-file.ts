import { lstatSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { releaseBuffer } from "../contract/release-buffer.ts";
import { readOwnFile } from "../files/own-file.ts";
import { ensureOwnFolder } from "../files/own-folder.ts";
import { replaceFile } from "../files/write.ts";
import type { SealKey } from "./key.ts";
import { sealChunks, unseal } from "./seal.ts";

/** What nobody keeps: a larger file is none of ours. */
const MOST_BYTES = 512 * 1024 * 1024;

/** The text in a sealed file; null when there is none, or it is not what was kept under this name with this key. */
export function readSealed(path: string, key: SealKey, name: string): string | null {
  try {
    const sealed = readOwnFile(path, { limit: MOST_BYTES });
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
 * Keeps what can be made anew in a file that only its owner can open. At no time is half of it there; where it is lost in
 * a crash, it is made anew. Answers why it could not be kept; null when it was.
 */
export function writeSealed(path: string, key: SealKey, name: string, content: string | Pieces): unknown {
  try {
    ensureOwnFolder(dirname(path));
    replaceFile(path, sealChunks(key, typeof content === "string" ? [content] : content, name));
    sweep(path);
    return null;
  } catch (error) {
    return error;
  }
}

/** A content that is never there as a whole. */
type Pieces = Generator<string>;

/** Another run is done with its own by then. */
const LEFT_BEHIND_MS = 60_000;

// What a run that was killed on its way to rename it has left behind.
function sweep(path: string): void {
  const folder = dirname(path);
  const beginning = `${basename(path)}.`;
  for (const name of readdirSync(folder)) {
    const left = join(folder, name);
    if (name.startsWith(beginning) && Date.now() - lstatSync(left).mtimeMs > LEFT_BEHIND_MS)
      attempt(() => rmSync(left, { force: true }));
  }
}

function attempt(work: () => void): void {
  try {
    work();
  } catch {
    // It can be done without.
  }
}
