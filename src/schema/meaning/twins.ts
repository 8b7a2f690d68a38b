import { isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { error, type Fault } from "../fault.ts";

/** The items of a list that are objects, each with its place; none where the field is no list. */
export function objectsOf(list: Json | undefined): readonly { readonly item: JsonObject; readonly index: number }[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: Json, index) => (isObject(item) ? [{ item, index }] : []));
}

/** An error for every item that says again what an earlier one has said, told by its token. */
export function twins(
  list: Json | undefined,
  at: (index: number) => string,
  token: (item: JsonObject) => string | undefined,
  what: string,
): readonly Fault[] {
  const seen = new Map<string, number>();
  return objectsOf(list).flatMap(({ item, index }) => {
    const name = token(item);
    const first = name === undefined ? undefined : seen.get(name);
    if (name !== undefined && first === undefined) seen.set(name, index);
    return first === undefined ? [] : [error(at(index), "duplicate-item", `item ${first} has the same ${what}`)];
  });
}
