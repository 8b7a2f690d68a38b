import type { ParsedFile, ReadOptions } from "./document.ts";
import { ExactThread } from "./exact/exact-thread.ts";
import { parseFile } from "./parse-file.ts";

export { ExactThread };

/**
 * Reads the documents of a file: at once where all of them are plain YAML, else with the exact reader in its thread;
 * null where it takes one and there is none.
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
