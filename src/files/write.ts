import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { lstatOrNull } from "./lstat.ts";
import { requireRegularFile } from "./own-file.ts";

/** A content, whole or in pieces. */
type Content = string | Iterable<Uint8Array>;

/** How a file is written. */
type Writing = {
  /** Whether it must outlive a power cut. */
  readonly durable?: boolean;
};

/** A file that is not there under its name yet, open for writing; it goes when disposed of. */
export type TemporaryFile = Disposable & { readonly path: string; readonly descriptor: number };

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Replaces a file as a whole, or makes it, for its owner alone; what is there and is no regular file is refused. */
export function replaceFile(path: string, content: Content, { durable = false }: Writing = {}): void {
  const found = lstatOrNull(path);
  if (found !== null) requireRegularFile(path, found);
  using draft = writtenDraft(path, content, durable);
  renameSync(draft.path, path);
  if (durable) syncFolder(dirname(path));
}

/**
 * Makes a file for its owner alone, whole or not at all; false where something is there already. A file that is empty, as
 * an earlier release could leave one when it was killed, is filled; then, too, its content is to be read.
 */
export function createFile(path: string, content: Content, { durable = false }: Writing = {}): boolean {
  if (isTaken(path)) return false;
  using draft = writtenDraft(path, content, durable);
  const isMade = renameNoReplace(draft, path);
  if (!isMade && !isTaken(path)) fillEmpty(path, draft);
  if (durable) syncFolder(dirname(path));
  return isMade;
}

function isTaken(path: string): boolean {
  const found = lstatOrNull(path);
  return found !== null && !(found.isFile() && found.size === 0);
}

// Two that find it empty at the same time agree on the content that gets the second name first.
function fillEmpty(path: string, draft: TemporaryFile): void {
  const next = `${path}.new`;
  renameNoReplace(draft, next);
  try {
    if (!isTaken(path)) renameSync(next, path);
  } catch (error) {
    // The other one has just renamed it.
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  } finally {
    rmSync(next, { force: true });
  }
}

/** Fails where nothing more can be written in a folder, and leaves nothing behind. */
export function checkWritable(folder: string): void {
  using draft = openTemporaryFile(join(folder, "trial"));
  writeFileSync(draft.descriptor, Buffer.alloc(ROOM));
}

// As much as the journal of a few writes takes.
const ROOM = 64 * 1024;

/** Opens a new file beside the path, for its owner alone. */
export function openTemporaryFile(path: string): TemporaryFile {
  const draft = `${path}.${randomUUID()}`;
  const descriptor = openSync(draft, FLAGS, 0o600);
  return {
    path: draft,
    descriptor,
    [Symbol.dispose]: () => {
      closeSync(descriptor);
      // It was renamed, or is one of two names.
      if (lstatOrNull(draft) !== null) unlinkSync(draft);
    },
  };
}

/** Gives a draft its name; false when something has it already, which stays as it is. */
export function renameNoReplace({ path: draft }: Pick<TemporaryFile, "path">, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST") return false;
    if (!WITHOUT_LINKS.includes(code)) throw error;
  }
  // Such a file system cannot tell in one step whether the name is taken.
  if (lstatOrNull(path) !== null) return false;
  renameSync(draft, path);
  return true;
}

// What file systems say that have no hard links (FAT, some network and FUSE ones).
const WITHOUT_LINKS: readonly string[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

function writtenDraft(path: string, content: Content, durable: boolean): TemporaryFile {
  using stack = new DisposableStack();
  const draft = stack.use(openTemporaryFile(path));
  for (const piece of typeof content === "string" ? [content] : content) writeFileSync(draft.descriptor, piece);
  if (durable) fsyncSync(draft.descriptor);
  stack.move();
  return draft;
}

function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, constants.O_RDONLY);
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!UNSYNCED.includes(code)) throw error;
  }
}

// What is said where folders cannot be synced (Windows, some network file systems).
const UNSYNCED: readonly string[] = ["EISDIR", "EPERM", "EINVAL", "ENOTSUP"];
