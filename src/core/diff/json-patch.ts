import jsonPatch from "fast-json-patch";
import { isObject, type Json } from "../../contract/json.ts";
import { pointerTokens } from "../../contract/json-pointer.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import { MASK } from "../../model/credential.ts";
import { redactManifest } from "../redact/redact-manifest.ts";
import { mergeIntoWritten } from "./merge-into-written.ts";
import { pointerOf } from "./pointer.ts";

// Separates a mask from the value that it hides while two masked documents are compared; it never leaves this file.
const HIDDEN = `${MASK}\u0000`;

/**
 * RFC 6902 operations that turn live, as the server answered it, into a document with the wanted normal form. Possible
 * secrets are masked.
 */
export function jsonPatchTo(shape: Shape, live: Json | undefined, wanted: Json | undefined): readonly Json[] {
  const operations = jsonPatch.compare(document(shape, live), document(shape, mergeIntoWritten(shape, live, wanted)));
  return operations.map((operation) => {
    const shown = Object.entries(operation).map(([name, value]) => [
      name,
      isPath(name) ? shownPath(value) : unhide(value),
    ]);
    return Object.fromEntries(shown);
  });
}

function document(shape: Shape, value: Json | undefined): object {
  const hidden = redactManifest(shape, value ?? {}, { mask: (secret) => `${HIDDEN}${JSON.stringify(secret)}` });
  return isObject(hidden) ? hidden : {};
}

function unhide(value: unknown): Json {
  if (typeof value === "string") return value.startsWith(HIDDEN) ? MASK : value;
  if (Array.isArray(value)) return value.map(unhide);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [unhideKey(key), unhide(field)]));
}

const isPath = (name: string): boolean => name === "path" || name === "from";

function shownPath(path: string): string {
  return pointerOf(pointerTokens(path).map(unhideKey));
}

// Masked keys of one object are counted.
function unhideKey(key: string): string {
  return key.startsWith(HIDDEN) ? MASK + (/(?<=")(?: \d+)$/.exec(key)?.[0] ?? "") : key;
}
