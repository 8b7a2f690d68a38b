import type { ParsedFile, ReadOptions } from "./document.ts";
import { ExactThread } from "./exact/exact-thread.ts";
import { parseFile } from "./parse-file.ts";

export { ExactThread };

/** Reads the documents of a file: synchronously when all are plain YAML, otherwise with the exact reader in its thread. */
export function readYaml(
  bytes: Uint8Array,
  options: ReadOptions,
  exact: ExactThread,
): ParsedFile | Promise<ParsedFile> {
  return parseFile(bytes, options, null) ?? exact.read(bytes, options);
}
