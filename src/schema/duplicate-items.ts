import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

type Item = { readonly item: JsonObject; readonly index: number };

/** The objects of a list that match, each with its index; empty if the field is not a list. */
export function objectsOf(
  list: Json | undefined,
  matches: (item: JsonObject) => boolean = () => true,
): readonly Item[] {
  const items: Item[] = [];
  if (!Array.isArray(list)) return items;
  for (const [index, item] of list.entries()) if (isObject(item) && matches(item)) items.push({ item, index });
  return items;
}

/** An error for every item of a list that has the same key as an earlier one. */
export function duplicates(
  list: Json | undefined,
  at: (index: number) => string,
  keyOf: (item: JsonObject) => string | undefined,
  what: string,
): readonly SchemaDiagnostic[] {
  if (!Array.isArray(list) || list.length < 2) return [];
  const seen = new Map<string, number>();
  return objectsOf(list).flatMap(({ item, index }) => {
    const name = keyOf(item);
    const first = name === undefined ? undefined : seen.get(name);
    if (name !== undefined && first === undefined) seen.set(name, index);
    return first === undefined ? [] : [error(at(index), "duplicate-item", `item ${first} has the same ${what}`)];
  });
}
