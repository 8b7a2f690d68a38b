import jsonPatch from "fast-json-patch";
import { isObject, type Json } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { MASK } from "../../model/credential.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import { mergeIntoWritten } from "./merge-into-written.ts";

// Separates a mask from the value that it hides while two masked documents are compared; it never leaves this file.
const HIDDEN = `${MASK}\u0000`;

/**
 * RFC 6902 operations that turn live, as the server answered it, into a document with the wanted normal form. Possible
 * secrets are masked.
 */
export function jsonPatchTo(shape: Shape, live: Json | undefined, wanted: Json | undefined): readonly Json[] {
  const operations = jsonPatch.compare(document(shape, live), document(shape, mergeIntoWritten(shape, live, wanted)));
  return operations.map((operation) => unhide({ ...operation }));
}

function document(shape: Shape, value: Json | undefined): object {
  const hidden = redactManifest(shape, value ?? {}, { mask: (secret) => `${HIDDEN}${JSON.stringify(secret)}` });
  return isObject(hidden) ? hidden : {};
}

function unhide(value: unknown): Json {
  if (typeof value === "string") return value.startsWith(HIDDEN) ? MASK : value;
  if (Array.isArray(value)) return value.map(unhide);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unhide(field)]));
}
