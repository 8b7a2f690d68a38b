import { isUtf8 } from "node:buffer";
import type { Json } from "../contract/json.ts";
import { measureJson } from "../contract/measure-json.ts";
import { badRequest } from "./http-error.ts";

// Recursive code could exhaust the stack on deeper values.
const MAX_DEPTH = 64;
// More than a manifest may hold. Parsed keys and values take many times the memory of their text.
const MAX_VALUES = 50_000;

/** Parses a JSON body; refuses invalid UTF-8 or JSON, too many or too deep values, `__proto__`, and duplicate keys. */
export function parseJsonBody(bytes: Buffer, { maxValues = MAX_VALUES }: { readonly maxValues?: number } = {}): Json {
  if (bytes.length === 0) throw badRequest("the body is empty, JSON is expected");
  if (!isUtf8(bytes)) throw badRequest("the body is not UTF-8 text");
  const { depth, pairs, values } = measureJson(bytes, { maxDepth: MAX_DEPTH, maxValues });
  if (depth > MAX_DEPTH) throw badRequest(`the body is nested more than ${MAX_DEPTH} levels deep`);
  if (values > maxValues) throw badRequest(`the body has more than ${maxValues.toLocaleString("en")} values`);
  const value = parse(bytes.toString("utf8").replace(/^\uFEFF/, ""));
  // JSON.parse uses the last of two equal keys, other parsers the first. A proxy may have checked another value.
  if (countKeys(value) !== pairs) throw badRequest("an object has the same key twice");
  return value;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a secret.
    throw badRequest("the body is not valid JSON");
  }
}

function countKeys(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item);
    return count;
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === "__proto__") throw badRequest("a key is called `__proto__`");
    count += 1 + countKeys(item);
  }
  return count;
}
