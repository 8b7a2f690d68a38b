import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { fileTypeOf } from "./read-own-file.ts";

/** A file that was named in a flag, in the environment or in the operator's configuration, and cannot be read. */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
  /** Whether nothing is there. */
  readonly isAbsent: boolean;

  /** `message` goes after the file's name: `is a pipe, not a regular file`. */
  constructor(message: string, { isAbsent = false, cause }: { readonly isAbsent?: boolean; readonly cause?: unknown }) {
    super(message, cause === undefined ? undefined : { cause });
    this.isAbsent = isAbsent;
  }
}

/** Enough for a token, a key, or all certificates of a system. */
const MAX_BYTES = 4 * 1024 * 1024;
const MIB = 1024 * 1024;
const PIECE_BYTES = MIB;

// It may have been replaced since it was looked at: opening a pipe must not wait for its other end.
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The content of a file that the operator named, links followed. Only a regular file is read: a pipe or a terminal would
 * keep the process waiting, in which no signal is answered, and a device may have no end.
 */
export function readGivenFile(path: string, mostBytes = MAX_BYTES): Buffer {
  try {
    requireRegular(statSync(path));
    const descriptor = openSync(path, FLAGS);
    try {
      const stat = fstatSync(descriptor);
      requireRegular(stat);
      const bytes = stat.size <= mostBytes ? readAtMost(descriptor, { mostBytes, expected: stat.size }) : null;
      if (bytes !== null) return bytes;
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    if (cause instanceof UnreadableFileError) throw cause;
    const code = cause instanceof Error && "code" in cause ? cause.code : "unknown";
    throw new UnreadableFileError(`cannot be read (${code})`, { isAbsent: code === "ENOENT", cause });
  }
  throw new UnreadableFileError(`is larger than ${sizeText(mostBytes)}`, {});
}

/** The same as text. */
export function readGivenText(path: string): string {
  return readGivenFile(path).toString("utf8");
}

/** What is wrong with a file that was named, to go after its name. */
export function whyUnreadable(error: unknown): string {
  return error instanceof UnreadableFileError ? error.message : "cannot be read";
}

function requireRegular(stat: Stats): void {
  if (stat.isFile()) return;
  if (stat.isDirectory()) throw new UnreadableFileError("cannot be read (EISDIR): it is a folder", {});
  throw new UnreadableFileError(`is ${fileTypeOf(stat)}, not a regular file`, {});
}

// A file may grow while it is read, and files of /proc have the size 0.
function readAtMost(
  descriptor: number,
  { mostBytes, expected }: { readonly mostBytes: number; readonly expected: number },
): Buffer | null {
  const pieces: Buffer[] = [];
  const pieceBytes = Math.min(PIECE_BYTES, Math.max(expected, 4096) + 1);
  for (let length = 0; length <= mostBytes; ) {
    const piece = Buffer.allocUnsafe(pieceBytes);
    const count = readSync(descriptor, piece);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
    length += count;
  }
  return null;
}

function sizeText(bytes: number): string {
  return bytes < MIB ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(bytes / MIB)} MiB`;
}
