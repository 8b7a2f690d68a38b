import { canonical, type JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { inPlaceFields } from "../../model/manifest-fields.ts";
import { normalise } from "../../model/normal-form.ts";

/** The content of a version: its manifest without its number and the fields that may change in place, as comparable text. */
export function versionContent(shape: Shape, manifest: JsonObject): string {
  const fields = Object.entries(manifest).filter(([name]) => name !== "version" && !inPlaceFields.includes(name));
  return comparableText(shape, Object.fromEntries(fields));
}

/** The text of a manifest in normal form: the same for manifests with the same content. */
export function comparableText(shape: Shape, manifest: JsonObject): string {
  return canonical(normalise(shape, manifest, "content") ?? {});
}
