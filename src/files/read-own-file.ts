import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { lstatOrNull } from "./lstat-or-null.ts";
import { requireNotReadableByOthers, requireNotWritableByOthers, requireOwner, sharedGroup } from "./owner.ts";
import { UnsafePathError } from "./unsafe-path-error.ts";

/** The requirements for a file of the current user. */
export type FileRequirements = {
  /** The largest size in bytes. */
  readonly limit: number;
  /** Whether only the user may read it. */
  readonly isSecret?: boolean;
};

// The file may have been replaced since it was checked. These flags do not follow a link, do not wait for the other end
// of a pipe, and do not open a controlling terminal.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** The status of a regular file of the user, without opening it; null when it is absent. Refuses anything else. */
export function statOwnFile(path: string, requirements: FileRequirements): Stats | null {
  const stat = lstatOrNull(path);
  if (stat !== null) requireOwnFile(path, stat, requirements);
  return stat;
}

/** The content of a regular file of the user; null when it is absent. Opens nothing else. */
export function readOwnFile(path: string, requirements: FileRequirements): Buffer | null {
  if (statOwnFile(path, requirements) === null) return null;
  const descriptor = openSync(path, FLAGS);
  try {
    const stat = fstatSync(descriptor);
    requireOwnFile(path, stat, requirements);
    return readUpTo(descriptor, stat.size);
  } finally {
    closeSync(descriptor);
  }
}

function requireOwnFile(path: string, stat: Stats, { limit, isSecret = false }: FileRequirements): void {
  requireRegularFile(path, stat);
  requireOwner(path, stat);
  const group = sharedGroup(lstatSync(dirname(path)));
  requireNotWritableByOthers(path, stat, group);
  if (isSecret) requireNotReadableByOthers(path, stat, group);
  if (stat.size <= limit) return;
  throw new UnsafePathError(`${path} is too large (${stat.size} bytes)`, {
    hint: "it was not written by this program: remove it",
  });
}

/** Refuses everything but a regular file. */
export function requireRegularFile(path: string, stat: Stats, hint = "check who created it, and remove it"): void {
  if (stat.isFile()) return;
  throw new UnsafePathError(`${path} is ${fileTypeOf(stat)}, not a regular file`, { hint });
}

/** What is there instead of a regular file, with its article. */
export function fileTypeOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return "a symbolic link";
  if (stat.isDirectory()) return "a folder";
  if (stat.isFIFO()) return "a pipe";
  return stat.isSocket() ? "a socket" : "a device";
}

function readUpTo(descriptor: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(descriptor, bytes, filled, size - filled, null);
    if (count === 0) break;
    filled += count;
  }
  return filled === size ? bytes : bytes.subarray(0, filled);
}
