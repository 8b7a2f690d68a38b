import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { type Stamp, stampOf } from "./file-stamp.ts";

/** The result of opening a file: its content, or why it could not be read. */
export type Opened =
  | { readonly is: "read"; readonly bytes: Uint8Array; readonly size: number; readonly stamp: Stamp }
  | { readonly is: "gone" | "not-a-file" | "denied" | "failed" };

/** How many bytes of a file beyond the limit are read: enough to tell whether it may hold manifests. */
export const HEAD_BYTES = 16 * 1024;

// The file may have been replaced since it was listed: links are not followed, and opening a pipe does not block.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a regular file whose size is within the limit, or the beginning of a larger one. Other file types are refused.
 */
export function readRegularFile(path: string, limit: number): Opened {
  let descriptor: number;
  try {
    descriptor = openSync(path, FLAGS);
  } catch (error) {
    return { is: reasonOf(error) };
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { is: "not-a-file" };
    const bytes = readUpTo(descriptor, Buffer.allocUnsafe(stat.size > limit ? Math.min(limit, HEAD_BYTES) : stat.size));
    return { is: "read", bytes, size: stat.size, stamp: stampOf(stat) };
  } catch (error) {
    return { is: reasonOf(error) };
  } finally {
    closeSync(descriptor);
  }
}

/** The file status of a path, without following a link; undefined if it does not exist or is not accessible. */
export function fileStatus(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // The failure is reported when the file is opened.
    return undefined;
  }
}

function readUpTo(descriptor: number, bytes: Uint8Array): Uint8Array {
  const { length } = bytes;
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, null);
    if (count === 0) break;
    filled += count;
  }
  return filled === length ? bytes : bytes.subarray(0, filled);
}

function reasonOf(error: unknown): "gone" | "not-a-file" | "denied" | "failed" {
  const code = error instanceof Error && "code" in error ? error.code : "";
  if (code === "ENOENT" || code === "ENOTDIR") return "gone";
  if (code === "ELOOP" || code === "EISDIR" || code === "ENXIO") return "not-a-file";
  return code === "EACCES" || code === "EPERM" ? "denied" : "failed";
}
