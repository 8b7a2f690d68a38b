import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { error, type SchemaDiagnostic } from "./schema-diagnostic.ts";

type Item = { readonly item: JsonObject; readonly index: number };

/** The objects of a list, or some of them, each with its place; none where the field is no list. */
export function objectsOf(
  list: Json | undefined,
  isMeant: (item: JsonObject) => boolean = () => true,
): readonly Item[] {
  const items: Item[] = [];
  if (!Array.isArray(list)) return items;
  for (const [index, item] of list.entries()) if (isObject(item) && isMeant(item)) items.push({ item, index });
  return items;
}

/** An error for every item that says again what an earlier one has said, told by its token. */
export function duplicates(
  list: Json | undefined,
  at: (index: number) => string,
  token: (item: JsonObject) => string | undefined,
  what: string,
): readonly SchemaDiagnostic[] {
  if (!Array.isArray(list) || list.length < 2) return [];
  const seen = new Map<string, number>();
  return objectsOf(list).flatMap(({ item, index }) => {
    const name = token(item);
    const first = name === undefined ? undefined : seen.get(name);
    if (name !== undefined && first === undefined) seen.set(name, index);
    return first === undefined ? [] : [error(at(index), "duplicate-item", `item ${first} has the same ${what}`)];
  });
}
