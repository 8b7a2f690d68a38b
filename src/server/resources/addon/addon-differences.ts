import type { AddonDifference } from "../../../contract/generated/resources.ts";
import { equal, isObject, type Json, type JsonObject, own } from "../../../contract/json.ts";

/** The differences between two objects by key; lists are compared as a whole. */
export function addonDifferences(current: JsonObject, desired: JsonObject): readonly AddonDifference[] {
  const keys = [...new Set([...Object.keys(current), ...Object.keys(desired)])].toSorted();
  return keys.flatMap((key) => difference(key, own(current, key), own(desired, key)));
}

function difference(key: string, old: Json | undefined, value: Json | undefined): readonly AddonDifference[] {
  if (equal(old, value)) return [];
  const type = old === undefined ? "ADD" : value === undefined ? "REMOVE" : "CHANGE";
  const changes = isObject(old) && isObject(value) ? addonDifferences(old, value) : [];
  return [{ type, key, ...(value !== undefined && { value }), ...(old !== undefined && { oldValue: old }), changes }];
}
