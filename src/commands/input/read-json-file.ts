import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import type { Json } from "../../contract/json.ts";
import { isTooDeep } from "../../contract/measure-json.ts";

/** The depth limit of a manifest plus the levels of a report around it. */
const MAX_DEPTH = 256;
const PIECE_BYTES = 1024 * 1024;

/** Reads a JSON file of at most `mostBytes`; `refuse` creates the error for a file that is not JSON, too large or too deep. */
export function readJsonFile(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): Json {
  const bytes = read(path, mostBytes, refuse);
  if (isTooDeep(bytes, MAX_DEPTH)) throw refuse("its JSON is nested too deeply");
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (cause) {
    throw refuse("it is no JSON, or it was cut off", cause);
  }
}

function read(path: string, mostBytes: number, refuse: (why: string, cause?: unknown) => Error): Buffer {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, "r");
    const { size } = fstatSync(descriptor);
    const bytes = size <= mostBytes ? readAtMost(descriptor, mostBytes) : null;
    if (bytes !== null) return bytes;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw refuse(`it cannot be read${code}`, error);
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
  throw refuse(`it is larger than ${mostBytes / 1024 / 1024} MiB`);
}

// The size of a device or a pipe is not known before it is read.
function readAtMost(descriptor: number, mostBytes: number): Buffer | null {
  const pieces: Buffer[] = [];
  for (let length = 0; length <= mostBytes; ) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const count = readSync(descriptor, piece);
    if (count === 0) return Buffer.concat(pieces);
    pieces.push(piece.subarray(0, count));
    length += count;
  }
  return null;
}
