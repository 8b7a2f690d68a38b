import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import { lstatOrNull } from "./lstat.ts";
import { requireNotReadableByOthers, requireNotWritableByOthers, requireOwner, sharedGroup } from "./owner.ts";
import { UnsafePathError } from "./unsafe-path.ts";

/** What is asked of a file of ours. */
export type FileRequirements = {
  /** Bytes of the largest one that can be meant. */
  readonly limit: number;
  /** Whether nobody else may read it. */
  readonly isSecret?: boolean;
};

// Whatever took the file's place since it was looked at: no link is followed, no pipe's other end waited for, and no
// terminal becomes ours.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** What lies at the path of a file of ours, without opening it; null where nothing does. Refuses anything else. */
export function statOwnFile(path: string, asked: FileRequirements): Stats | null {
  const stat = lstatOrNull(path);
  if (stat !== null) requireOwnFile(path, stat, asked);
  return stat;
}

/** The content of a file of ours; null where there is none. Opens nothing that is not a regular file of the user. */
export function readOwnFile(path: string, asked: FileRequirements): Buffer | null {
  if (statOwnFile(path, asked) === null) return null;
  const descriptor = openSync(path, FLAGS);
  try {
    const stat = fstatSync(descriptor);
    requireOwnFile(path, stat, asked);
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
  throw new UnsafePathError(`${path} is too large (${stat.size} bytes)`, { hint: "it is none of ours: remove it" });
}

/** Refuses everything but a regular file. */
export function requireRegularFile(path: string, stat: Stats, hint = "see who put it there, and remove it"): void {
  if (stat.isFile()) return;
  throw new UnsafePathError(`${path} is ${kindOf(stat)}, and no regular file`, { hint });
}

function kindOf(stat: Stats): string {
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
