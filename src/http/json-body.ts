import { isUtf8 } from "node:buffer";
import type { Json } from "../contract/json.ts";
import { badRequest } from "./http-error.ts";
import { measureJson } from "./json-size.ts";

// Deeper values could exhaust the stack of whatever walks them.
const DEEPEST = 64;
// More than any manifest may hold. Keys and values cost many times their bytes once they are parsed.
const MOST_VALUES = 50_000;

/** Reads a JSON body; refuses what is no UTF-8, no JSON, too deep or wide, names `__proto__`, or has a key twice. */
export function parseJsonBody(bytes: Buffer): Json {
  if (bytes.length === 0) throw badRequest("the body is empty, JSON is expected");
  if (!isUtf8(bytes)) throw badRequest("the body is not UTF-8 text");
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  const { depth, pairs, values } = measureJson(text, MOST_VALUES);
  if (depth > DEEPEST) throw badRequest(`the body is nested more than ${DEEPEST} levels deep`);
  if (values > MOST_VALUES) throw badRequest(`the body has more than ${MOST_VALUES.toLocaleString("en")} values`);
  const value = parse(text);
  // Of two equal keys the parser keeps the last, and others the first: whoever looked before us may have seen another.
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
