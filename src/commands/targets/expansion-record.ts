import { join } from "node:path";
import { canonical, isObject, type Json, parseJsonOrNull } from "../../contract/json.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { createFile, replaceFile } from "../../files/write-file.ts";
import type { PatternItem } from "../../source/read-pattern.ts";
import { makeFolder } from "../../store/make-folder.ts";
import type { TargetEntry } from "./expand-pattern.ts";

/** What one pattern stood for when a command that writes read it last. */
export type RecordedPattern = {
  /** Tells patterns apart: what is looked up, and in which source. */
  readonly key: string;
  readonly items: readonly PatternItem[];
  /** The items that it stood for earlier. */
  readonly retired: readonly PatternItem[];
};

const FILE = "expansion.json";
const MAX_BYTES = 64 * 1024 * 1024;

/** Tells patterns apart in the record. */
export function patternKey({ each = null, source = null }: TargetEntry): string {
  return canonical({ each: each ?? null, source });
}

/** What the patterns of a state folder stood for last; empty if nothing is recorded. */
export function readExpansion(stateFolder: string): readonly RecordedPattern[] {
  const bytes = readOwnFile(join(stateFolder, FILE), { limit: MAX_BYTES });
  const value = bytes === null ? null : parseJsonOrNull(bytes.toString("utf8"));
  const patterns = isObject(value) && value.version === 1 && Array.isArray(value.patterns) ? value.patterns : [];
  return patterns.flatMap((each: Json) => {
    if (!isObject(each) || typeof each.key !== "string") return [];
    return [{ key: each.key, items: itemsIn(each.items), retired: itemsIn(each.retired) }];
  });
}

/** Records what the patterns stand for now; the file is written only if that has changed. */
export async function writeExpansion(stateFolder: string, patterns: readonly RecordedPattern[]): Promise<void> {
  if (canonical(asJson(readExpansion(stateFolder))) === canonical(asJson(patterns))) return;
  await makeFolder(stateFolder);
  // The folder may lie in a checkout.
  createFile(join(stateFolder, ".gitignore"), "*\n");
  replaceFile(join(stateFolder, FILE), `${JSON.stringify({ version: 1, patterns }, null, 1)}\n`);
}

function asJson(patterns: readonly RecordedPattern[]): Json {
  return patterns.map(({ key, items, retired }) => ({ key, items: [...items], retired: [...retired] }));
}

function itemsIn(value: Json | undefined): readonly PatternItem[] {
  return (Array.isArray(value) ? value : []).flatMap((each: Json) => {
    if (!isObject(each) || !isObject(each.values)) return [];
    const texts = Object.entries(each.values).filter((pair): pair is [string, string] => typeof pair[1] === "string");
    const { folder, file, line, column } = each;
    return [
      {
        values: Object.fromEntries(texts),
        folder: typeof folder === "string" ? folder : null,
        file: typeof file === "string" ? file : "",
        line: typeof line === "number" ? line : null,
        column: typeof column === "number" ? column : null,
      },
    ];
  });
}
