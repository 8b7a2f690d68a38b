import jsonPatch from "fast-json-patch";
import { isObject, type Json } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { children } from "./normal.ts";
import { isSensitiveField, MASK, redact } from "./sensitive.ts";

// Separates a mask from the value it hides while two masked documents are compared; never leaves this file.
const HIDDEN = "\u0000";

/** RFC 6902 operations from one normalised value to the other; values that could be secrets are masked. */
export function patchBetween(shape: Shape, before: Json | undefined, after: Json | undefined): readonly Json[] {
  const operations = jsonPatch.compare(document(shape, before), document(shape, after));
  return operations.map((operation) => unhide({ ...operation }));
}

function document(shape: Shape, value: Json | undefined): object {
  const hidden = hide(shape, value ?? {}, false);
  return isObject(hidden) ? hidden : {};
}

function hide(shape: Shape, value: Json, sensitive: boolean): Json {
  const inner = children(shape, value);
  if (inner === null) {
    const shown = redact(value, sensitive);
    return shown === MASK ? `${MASK}${HIDDEN}${JSON.stringify(value)}` : value;
  }
  const hidden = [...inner].map(([token, child]): [string, Json] => [
    token,
    hide(child.shape, child.value, sensitive || isSensitiveField(shape, child.shape, token)),
  ]);
  return Array.isArray(value) ? hidden.map(([, item]) => item) : Object.fromEntries(hidden);
}

function unhide(value: unknown): Json {
  if (typeof value === "string") return value.split(HIDDEN, 1)[0] ?? value;
  if (Array.isArray(value)) return value.map(unhide);
  if (!isObject(value)) return value as Json;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unhide(field)]));
}
