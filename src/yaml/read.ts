import { type ParsedFile, parseFile, type Reading } from "./document.ts";

/** What is read at once, since it cannot take long; larger files are read aside. */
export const SMALL_BYTES = 64 * 1024;

/** Reads a file where that is quick and certain; null where it has to be read aside. */
export function readHere(bytes: Uint8Array, reading: Reading): ParsedFile | null {
  return bytes.length <= SMALL_BYTES ? parseFile(bytes, reading, null) : null;
}
