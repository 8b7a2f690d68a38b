import type { AsideReader } from "./aside.ts";
import { type ParsedFile, parseFile, type Reading } from "./document.ts";

/** What is read at once, since it cannot take long; larger files are read aside. */
export const SMALL_BYTES = 64 * 1024;

/** Reads a file here where that is quick and certain, else aside. */
export async function readFile(bytes: Uint8Array, reading: Reading, aside: AsideReader): Promise<ParsedFile> {
  const here = bytes.length <= SMALL_BYTES ? parseFile(bytes, reading, null) : null;
  return here ?? aside.read(bytes, reading);
}
