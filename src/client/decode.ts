import { Buffer, isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Json } from "../contract/json.ts";
import type { Headers } from "./exchange.ts";

/** No reply may be larger, as it came or unpacked. */
export const REPLY_CAP = 8 * 1024 * 1024;

/** A body made readable, or what is wrong with it. */
export type Decoded =
  | { readonly state: "json"; readonly value: Json; readonly raw: string }
  | { readonly state: "other"; readonly raw: string; readonly fault: string }
  | { readonly state: "oversize"; readonly fault: string };

const DEPTH = 200;
const unzip = promisify(gunzip);

/** Unpacks and parses a body; what is not JSON is given back as text, since an error page still tells something. */
export async function decode(headers: Headers, body: Buffer): Promise<Decoded> {
  const unpacked = await unpack(headers["content-encoding"], body);
  if ("state" in unpacked) return unpacked;
  if (!isUtf8(unpacked.bytes)) return { state: "other", raw: "", fault: "is not UTF-8" };
  const raw = unpacked.bytes.toString("utf8");
  if (raw === "") return { state: "other", raw, fault: "is empty" };
  if (isTooDeep(unpacked.bytes)) return { state: "other", raw: "", fault: `is nested deeper than ${DEPTH} levels` };
  try {
    const value: Json = JSON.parse(raw);
    return { state: "json", value, raw };
  } catch {
    return { state: "other", raw, fault: `is not JSON${kindOf(headers["content-type"])}` };
  }
}

async function unpack(encoding: Headers[string], body: Buffer): Promise<Decoded | { readonly bytes: Buffer }> {
  const coding = encoding ?? "identity";
  if (coding === "identity" || coding === "") return { bytes: body };
  if (coding !== "gzip" && coding !== "x-gzip")
    return { state: "other", raw: "", fault: "has an encoding that was not asked for" };
  try {
    return { bytes: await unzip(body, { maxOutputLength: REPLY_CAP }) };
  } catch (cause) {
    const tooLarge = cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
    if (tooLarge) return { state: "oversize", fault: `unpacks to more than ${REPLY_CAP} bytes` };
    return { state: "other", raw: "", fault: "is not the gzip it says it is" };
  }
}

function kindOf(contentType: Headers[string]): string {
  const [type] = typeof contentType === "string" ? contentType.split(";") : [];
  return type !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(type) ? ` (${type})` : "";
}

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from('"\\[]{}');

// A nest of a few kilobytes would overflow the stack of whatever walks the value later.
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1;
      if (depth > DEPTH) return true;
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
  }
  return false;
}

function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
