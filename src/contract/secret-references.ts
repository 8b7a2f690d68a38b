import type { Json } from "./json.ts";
import { escapePointer } from "./json-pointer.ts";

// `secret://tenant:group:key`, also with a scheme that ends in `-secret`, and also inside a longer string.
const SECRET_URL =
  /\b(?:[a-z][a-z0-9+.]*-)?secret:\/\/([A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128}:[A-Za-z0-9_.-]{1,128})/g;

/** The fields, at any depth of a manifest, in whose texts references to secrets are resolved. */
export const RESOLVED_FIELDS: ReadonlySet<string> = new Set(["env", "values"]);

/** A reference to a secret, and its location (a JSON Pointer within the searched value). */
export type SecretReference = { readonly fqn: string; readonly pointer: string };

/** All references to secrets in the strings of a value. */
export function secretReferences(value: Json | undefined, pointer = ""): readonly SecretReference[] {
  const found: SecretReference[] = [];
  addReferences(value, pointer, found);
  return found;
}

function addReferences(value: Json | undefined, pointer: string, found: SecretReference[]): void {
  if (typeof value === "string") {
    for (const [, fqn = ""] of value.matchAll(SECRET_URL)) found.push({ fqn, pointer });
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      // Most values contain no reference, so their pointer is not computed.
      if (mayRefer(item)) addReferences(item, `${pointer}/${escapePointer(key)}`, found);
    }
  }
}

function mayRefer(value: Json): boolean {
  return typeof value === "string" ? value.includes("secret://") : typeof value === "object";
}
