import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { compareText } from "../../contract/json.ts";
import { stagedPathFault } from "../../contract/staged-files.ts";
import { isAtOrBelow } from "../../files/real-path.ts";
import { FilesError } from "./files-error.ts";

/** A file of a version: its path in the version, and its real path on this machine. */
export type UndigestedFile = { readonly path: string; readonly real: string };

/** Where a version's files may be. */
export type FilesFolder = {
  /** The real path of the folder that nothing may leave. */
  readonly root: string;
  /** What messages call that folder. */
  readonly title: string;
};

/** The most files that a version may have. */
const MOST_FILES = 100_000;

/**
 * The files of a version at an absolute path: all below a folder, or a single file. Links are followed if they stay in the root;
 * what is no file, and a name that a file system elsewhere could not hold, is a `FilesError`.
 */
export async function findFiles(path: string, folder: FilesFolder, stop: Stop): Promise<readonly UndigestedFile[]> {
  const start = await resolved(path, path, folder);
  if (start.stats.isFile()) return [{ path: requireName(basename(path)), real: start.real }];
  if (!start.stats.isDirectory()) throw special(path);
  if (start.real === folder.root) throw new FilesError(`${path} is all of ${folder.title}: name a folder in it`);
  const found: UndigestedFile[] = [];
  await walk({ real: start.real, path: "", above: new Set([start.real]) }, { folder, found, stop });
  if (found.length === 0) throw new FilesError(`${path} has no files`);
  return found;
}

type Walk = { readonly folder: FilesFolder; readonly found: UndigestedFile[]; readonly stop: Stop };

type Place = { readonly real: string; readonly path: string; readonly above: ReadonlySet<string> };

async function walk(place: Place, { folder, found, stop }: Walk): Promise<void> {
  stop.signal.throwIfAborted();
  for (const entry of await entriesOf(place.real)) {
    const path = requireName(place.path === "" ? entry.name : `${place.path}/${entry.name}`);
    const at = join(place.real, entry.name);
    const { real, stats } = await resolved(at, path, folder);
    if (stats.isFile()) {
      if (found.length === MOST_FILES) throw new FilesError(`there are more than ${MOST_FILES} files`);
      found.push({ path, real });
    } else if (stats.isDirectory()) {
      if (place.above.has(real)) throw new FilesError(`${path} is a symbolic link to a folder that contains it`);
      await walk({ real, path, above: new Set([...place.above, real]) }, { folder, found, stop });
    } else throw special(path);
  }
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  return entries.toSorted((a, b) => compareText(a.name, b.name));
}

async function resolved(
  at: string,
  shown: string,
  { root, title }: FilesFolder,
): Promise<{ readonly real: string; readonly stats: Stats }> {
  try {
    const real = await realpath(at);
    if (!isAtOrBelow(root, real)) {
      const isLink = (await lstat(at)).isSymbolicLink();
      throw new FilesError(isLink ? `${shown} is a symbolic link that leaves ${title}` : `${shown} is not in ${title}`);
    }
    return { real, stats: await stat(real) };
  } catch (error) {
    if (error instanceof FilesError) throw error;
    throw unreadable(shown, error);
  }
}

function requireName(path: string): string {
  // A name that is not UTF-8 is read with this character in place of its bytes.
  const fault = path.includes("\uFFFD") ? "must be UTF-8" : stagedPathFault(path);
  if (fault === null) return path;
  throw new FilesError(`the path of the file ${JSON.stringify(path)} ${fault}`);
}

function special(path: string): FilesError {
  return new FilesError(`${path} is neither a file nor a folder`);
}

/** The error for a file or folder that cannot be read. */
export function unreadable(path: string, error: unknown): FilesError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const why = reasons[code];
  if (why === undefined && code === "") throw error;
  return new FilesError(`${path} ${why ?? `cannot be read (${code})`}`, { cause: error });
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: "does not exist",
  ENOTDIR: "does not exist",
  EACCES: "cannot be read: permission denied",
  ELOOP: "is a symbolic link that cannot be followed",
  ENAMETOOLONG: "does not exist",
};
