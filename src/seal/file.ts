import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { giveBack } from "../contract/bytes.ts";
import type { SealKey } from "./key.ts";
import { open, sealing } from "./seal.ts";

/** What nobody keeps: a larger file is none of ours. */
const MOST_BYTES = 512 * 1024 * 1024;

// Whoever can write to the folder may have put anything there: no link is followed, and no pipe's other end waited for.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The text in a sealed file; null when there is none, or it is not what was kept under this name with this key. */
export function readSealed(path: string, key: SealKey, name: string): string | null {
  try {
    const sealed = readRegular(path);
    const content = open(key, sealed, name);
    giveBack(sealed);
    const text = content.toString("utf8");
    giveBack(content);
    return text;
  } catch {
    return null;
  }
}

function readRegular(path: string): Buffer {
  const descriptor = openSync(path, FLAGS);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > MOST_BYTES) throw new TypeError("no file of ours");
    return readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Keeps what can be made anew in a file that only its owner can open. At no time is half of it there; where it cannot be
 * kept, or is lost in a crash, it is made anew.
 */
export function keepSealed(path: string, key: SealKey, name: string, content: string | Pieces): void {
  const fresh = `${path}.${randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writePieces(fresh, sealing(key, typeof content === "string" ? [content] : content, name));
    renameSync(fresh, path);
    sweep(path);
  } catch {
    attempt(() => rmSync(fresh, { force: true }));
  }
}

/** A content that is never there as a whole. */
type Pieces = Generator<string>;

function writePieces(path: string, pieces: Iterable<Buffer>): void {
  const descriptor = openSync(path, "wx", 0o600);
  try {
    for (const piece of pieces) writeFileSync(descriptor, piece);
  } finally {
    closeSync(descriptor);
  }
}

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
