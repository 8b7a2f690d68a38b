import type { ParsedFile, ReadOptions } from "./document.ts";
import { ExactProcess } from "./exact/exact-process.ts";
import { parseFile } from "./parse-file.ts";

export { ExactProcess };

/** Reads the documents of a file: synchronously when all are plain YAML, otherwise with the exact reader in its process. */
export function readYaml(
  bytes: Uint8Array,
  options: ReadOptions,
  exact: ExactProcess,
): ParsedFile | Promise<ParsedFile> {
  return parseFile(bytes, options, null) ?? exact.read(bytes, options);
}
