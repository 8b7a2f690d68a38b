import { canonical, isObject, type Json } from "../../contract/json.ts";
import type { PatternItem } from "../../source/read-pattern.ts";
import type { TargetStore } from "../../state/target-store.ts";
import type { TargetEntry } from "./expand-pattern.ts";

/** What one pattern stood for when a command that writes read it last. */
export type RecordedPattern = {
  /** Tells patterns apart: what is looked up, and in which source. */
  readonly key: string;
  readonly items: readonly PatternItem[];
  /** The items that it stood for earlier. */
  readonly retired: readonly PatternItem[];
};

/** Tells patterns apart in the record. */
export function patternKey({ each = null, source = null }: TargetEntry): string {
  return canonical({ each: each ?? null, source });
}

/** What the patterns of a configuration stood for last; empty if nothing is recorded. */
export async function readExpansion(store: TargetStore): Promise<readonly RecordedPattern[]> {
  const stored = await store.expansion();
  return (Array.isArray(stored) ? stored : []).flatMap((each: Json) => {
    if (!isObject(each) || typeof each.key !== "string") return [];
    return [{ key: each.key, items: itemsIn(each.items), retired: itemsIn(each.retired) }];
  });
}

/** Records what the patterns stand for now; nothing is written unless that has changed. */
export async function writeExpansion(store: TargetStore, patterns: readonly RecordedPattern[]): Promise<void> {
  if (canonical(asJson(await readExpansion(store))) !== canonical(asJson(patterns)))
    await store.keepExpansion(asJson(patterns));
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
