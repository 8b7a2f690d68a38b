import type { AddonDifference } from "../../../contract/generated/resources.ts";
import { canonical, isObject, type Json, type JsonObject } from "../../../contract/json.ts";

/** The differences between two objects by key; lists are compared as a whole. */
export function addonDifferences(current: JsonObject, desired: JsonObject): readonly AddonDifference[] {
  const keys = [...new Set([...Object.keys(current), ...Object.keys(desired)])].toSorted();
  return keys.flatMap((key) => difference(key, memberOf(current, key), memberOf(desired, key)));
}

/** Whether two values are equal, whatever the order of members; absent is not null. */
export function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return canonical(one) === canonical(other);
}

/** An object's own member; undefined when it is absent. */
export function memberOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function difference(key: string, old: Json | undefined, value: Json | undefined): readonly AddonDifference[] {
  if (isSameJson(old, value)) return [];
  const type = old === undefined ? "ADD" : value === undefined ? "REMOVE" : "CHANGE";
  const changes = isObject(old) && isObject(value) ? addonDifferences(old, value) : [];
  return [{ type, key, ...(value !== undefined && { value }), ...(old !== undefined && { oldValue: old }), changes }];
}
