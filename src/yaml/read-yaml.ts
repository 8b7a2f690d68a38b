import type { ParsedFile, ReadOptions } from "./document.ts";
import { ExactThread } from "./exact/exact-thread.ts";
import { parseFile } from "./parse-file.ts";

export { ExactThread };

/**
 * Reads the documents of a file: synchronously when all are plain YAML, otherwise with the exact reader in its thread.
 * Null when that is needed and none is given.
 */
export function readYaml(bytes: Uint8Array, options: ReadOptions, exact: ExactThread): ParsedFile | Promise<ParsedFile>;
export function readYaml(bytes: Uint8Array, options: ReadOptions, exact: null): ParsedFile | null;
export function readYaml(
  bytes: Uint8Array,
  options: ReadOptions,
  exact: ExactThread | null,
): ParsedFile | Promise<ParsedFile> | null {
  return parseFile(bytes, options, null) ?? exact?.read(bytes, options) ?? null;
}
