import { isUtf8 } from "node:buffer";
import type { Json } from "../contract/json.ts";
import { badRequest } from "./refusal.ts";

// Deeper values could exhaust the stack of whatever walks them.
const DEEPEST = 64;

/** Reads a JSON body; refuses what is no UTF-8, no JSON, too deep, or names `__proto__`. */
export function parseJsonBody(bytes: Buffer): Json {
  if (bytes.length === 0) throw badRequest("the body is empty, JSON is expected");
  if (!isUtf8(bytes)) throw badRequest("the body is not UTF-8 text");
  const text = bytes.toString("utf8").replace(/^\uFEFF/, "");
  if (isDeeperThan(DEEPEST, text)) throw badRequest(`the body is nested more than ${DEEPEST} levels deep`);
  return parse(text);
}

function parse(text: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may hold a secret.
    throw badRequest("the body is not valid JSON");
  }
  if (text.includes("__proto__") || text.includes("\\u")) refuseProto(value);
  return value;
}

function refuseProto(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value) && Object.hasOwn(value, "__proto__")) throw badRequest("a key is called `__proto__`");
  for (const item of Object.values(value)) refuseProto(item);
}

/** Whether brackets outside of strings nest deeper; the text need not be valid JSON. */
export function isDeeperThan(limit: number, text: string): boolean {
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === "[" || token === "{") depth += 1;
    else if (token === "]" || token === "}") depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}
