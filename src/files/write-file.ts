// biome-ignore-all lint/plugin: other processes write temporary files into the same folder
import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { lstatOrNull } from "./lstat-or-null.ts";
import { requireRegularFile } from "./read-own-file.ts";

/** Content, as a whole or in chunks. */
type Content = string | Iterable<Uint8Array>;

/** How a file is written. */
type Writing = {
  /** Whether it must survive a power failure. */
  readonly durable?: boolean;
  /** Whether it keeps the mode it has, or gets that of any new file, instead of 0600. */
  readonly isShared?: boolean;
};

/** Further limited by the umask of the process. */
const SHARED_MODE = 0o666;

/** A file under a temporary name, open for writing; deleted when disposed of. */
export type TemporaryFile = Disposable & { readonly path: string; readonly descriptor: number };

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Creates a folder and its parents, unless they are there. Node's own recursive `mkdirSync` never ends when the kernel refuses
 * a new folder with ENOENT, as under `/proc`.
 */
export function makeFolders(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolders(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Replaces or creates a file atomically, with mode 0600; refuses to replace anything but a regular file. */
export function replaceFile(path: string, content: Content, { durable = false, isShared = false }: Writing = {}): void {
  const found = lstatOrNull(path);
  if (found !== null) requireRegularFile(path, found);
  using draft = writtenDraft(path, content, durable, isShared ? SHARED_MODE : 0o600);
  if (isShared && found !== null) fchmodSync(draft.descriptor, found.mode & 0o777);
  renameSync(draft.path, path);
  if (durable) syncFolder(dirname(path));
}

/**
 * Creates a file atomically, with mode 0600; false when it exists. An empty file, which an earlier release could leave
 * when it was killed, is filled; the result is false then too, since another process may have filled it.
 */
export function createFile(path: string, content: Content, { durable = false }: Writing = {}): boolean {
  if (isTaken(path)) return false;
  using draft = writtenDraft(path, content, durable, 0o600);
  const isCreated = renameNoReplace(draft, path);
  if (!isCreated && !isTaken(path)) fillEmpty(path, draft);
  if (durable) syncFolder(dirname(path));
  return isCreated;
}

function isTaken(path: string): boolean {
  const found = lstatOrNull(path);
  return found !== null && !(found.isFile() && found.size === 0);
}

// If two processes find the file empty at the same time, the content that is linked as `.new` first is used.
function fillEmpty(path: string, draft: TemporaryFile): void {
  const next = `${path}.new`;
  renameNoReplace(draft, next);
  try {
    if (!isTaken(path)) renameSync(next, path);
  } catch (error) {
    // The other process has renamed it.
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  } finally {
    rmSync(next, { force: true });
  }
}

/** Throws when no file can be written in a folder; the test file is deleted. */
export function checkWritable(folder: string): void {
  using draft = openTemporaryFileSync(join(folder, "trial"));
  writeFileSync(draft.descriptor, Buffer.alloc(TRIAL_BYTES));
}

// About the size of the journal of a few writes.
const TRIAL_BYTES = 64 * 1024;

function openTemporaryFileSync(path: string, mode = 0o600): TemporaryFile {
  const draft = temporaryName(path);
  return temporaryFile(draft, openSync(draft, FLAGS, mode));
}

/**
 * Creates a file in the folder of the path, with a random name and mode 0600. It does not block the thread, since
 * creating a file may wait for other writes to the same disk.
 */
export async function openTemporaryFile(path: string): Promise<TemporaryFile> {
  const draft = temporaryName(path);
  return temporaryFile(draft, await opened(draft, FLAGS, 0o600));
}

const opened = promisify(open);

/** Deletes what runs that were killed have left of their writes to these files. */
export function removeDrafts(paths: readonly string[]): void {
  for (const [folder, inside] of Map.groupBy(paths, (path) => dirname(path))) {
    const names = new Set(inside.map((path) => basename(path)));
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const of = DRAFT.exec(entry.name)?.groups?.of;
        if (of !== undefined && names.has(of) && entry.isFile()) rmSync(join(folder, entry.name), { force: true });
      }
    } catch (error) {
      // In a folder that cannot be changed, the write itself fails and names it.
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
  }
}

// The names that `temporaryName` gives.
const DRAFT = /^(?<of>.+)\.[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

function temporaryName(path: string): string {
  return `${path}.${randomUUID()}`;
}

function temporaryFile(draft: string, descriptor: number): TemporaryFile {
  return {
    path: draft,
    descriptor,
    [Symbol.dispose]: () => {
      closeSync(descriptor);
      // The file may have been renamed, or may be one of two links.
      if (lstatOrNull(draft) !== null) unlinkSync(draft);
    },
  };
}

/** Moves a temporary file to its path; false when the path exists, which is left as it is. */
export function renameNoReplace({ path: draft }: Pick<TemporaryFile, "path">, path: string): boolean {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST") return false;
    if (!WITHOUT_LINKS.includes(code)) throw error;
  }
  // Without hard links, checking and renaming cannot be one step.
  if (lstatOrNull(path) !== null) return false;
  renameSync(draft, path);
  return true;
}

// The errors of file systems without hard links (FAT, some network and FUSE ones).
const WITHOUT_LINKS: readonly string[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

function writtenDraft(path: string, content: Content, durable: boolean, mode: number): TemporaryFile {
  using stack = new DisposableStack();
  const draft = stack.use(openTemporaryFileSync(path, mode));
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

// The errors where folders cannot be synced (Windows, some network file systems).
const UNSYNCED: readonly string[] = ["EISDIR", "EPERM", "EINVAL", "ENOTSUP"];
