import type { ParsedFile, ReadOptions } from "./document.ts";
import { ExactThread } from "./exact/exact-thread.ts";
import { parseFile } from "./parse-file.ts";

export { ExactThread };

/** Reads the documents of a file: at once where all of them are plain YAML, else with the exact reader in its thread. */
export function readYaml(
  bytes: Uint8Array,
  options: ReadOptions,
  exact: ExactThread,
): ParsedFile | Promise<ParsedFile> {
  return readPlainYaml(bytes, options) ?? exact.read(bytes, options);
}

/** Reads the documents of a file where all of them are plain YAML; null for any other file. */
export function readPlainYaml(bytes: Uint8Array, options: ReadOptions): ParsedFile | null {
  return parseFile(bytes, options, null);
}
