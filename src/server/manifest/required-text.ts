import type { JsonObject } from "../../contract/json.ts";

/** The text of a field that the schema requires; the manifest must be valid. */
export function requiredText(manifest: JsonObject, field: string): string {
  const value = manifest[field];
  if (typeof value !== "string") throw new TypeError(`the manifest was not validated: it lacks ${field}`);
  return value;
}

/** The name in a validated manifest. */
export function requiredName(manifest: JsonObject): string {
  return requiredText(manifest, "name");
}
