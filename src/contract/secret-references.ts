import { isObject, type Json } from "./json.ts";
import { escapePointer } from "./json-pointer.ts";

// `secret://tenant:group:key`, and the same under any scheme that ends in `-secret`, also inside a longer string.
const SECRET_URL =
  /\b(?:[a-z][a-z0-9+.]*-)?secret:\/\/([A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128})/g;

/** A reference to a secret, and its place (JSON Pointer within the value searched). */
export type SecretReference = { readonly fqn: string; readonly pointer: string };

/** All references to secrets in the strings of a value. */
export function secretReferences(value: Json | undefined, pointer = ""): readonly SecretReference[] {
  if (typeof value === "string") {
    if (!value.includes("secret://")) return [];
    return Array.from(value.matchAll(SECRET_URL), ([, fqn = ""]) => ({ fqn, pointer }));
  }
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => secretReferences(item, `${pointer}/${index}`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => secretReferences(item, `${pointer}/${escapePointer(key)}`));
}
