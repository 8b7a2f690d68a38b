import { type Buffer, isUtf8 } from "node:buffer";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Json } from "../contract/json.ts";
import { REPLY_CAP } from "../contract/limits.ts";
import { isTooDeep } from "../contract/measure-json.ts";
import { releaseBuffer } from "../contract/release-buffer.ts";
import type { Headers } from "./exchange.ts";

/**
 * Parses a body instead of `JSON.parse`. Returns null to leave it to `JSON.parse`, as it must for a body that is nested
 * deeper than `maxDepth`. Throws if the body is not JSON.
 */
export type BodyParser = (bytes: Buffer, maxDepth: number) => Json | null;

/** A parsed body, or the reason why it could not be parsed. */
export type DecodedBody =
  | { readonly state: "json"; readonly value: Json; readonly raw: string }
  | { readonly state: "other"; readonly raw: string; readonly fault: string }
  | { readonly state: "oversize"; readonly fault: string };

const DEPTH = 200;
const unzip = promisify(gunzip);

/** Decompresses and parses a body. A body that is not JSON is returned as text, since an error page may be helpful. */
export async function decodeBody(headers: Headers, body: Buffer, parse?: BodyParser): Promise<DecodedBody> {
  const unpacked = await unpack(headers["content-encoding"], body);
  if ("state" in unpacked) return unpacked;
  const { bytes } = unpacked;
  if (!isUtf8(bytes)) return { state: "other", raw: "", fault: "is not UTF-8" };
  if (bytes.length === 0) return { state: "other", raw: "", fault: "is empty" };
  try {
    const value = parse?.(bytes, DEPTH) ?? null;
    if (value !== null) {
      releaseBuffer(bytes);
      return { state: "json", value, raw: "" };
    }
  } catch {
    return { state: "other", raw: bytes.toString("utf8"), fault: `is not JSON${kindOf(headers["content-type"])}` };
  }
  return read(headers, bytes);
}

function read(headers: Headers, bytes: Buffer): DecodedBody {
  // A few kilobytes of nested brackets would overflow the stack of recursive functions that read the value later.
  if (isTooDeep(bytes, DEPTH)) return { state: "other", raw: "", fault: `is nested deeper than ${DEPTH} levels` };
  const raw = bytes.toString("utf8");
  try {
    return { state: "json", value: JSON.parse(raw), raw };
  } catch {
    return { state: "other", raw, fault: `is not JSON${kindOf(headers["content-type"])}` };
  }
}

async function unpack(encoding: Headers[string], body: Buffer): Promise<DecodedBody | { readonly bytes: Buffer }> {
  const coding = encoding ?? "identity";
  if (coding === "identity" || coding === "") return { bytes: body };
  if (coding !== "gzip" && coding !== "x-gzip")
    return { state: "other", raw: "", fault: "has an encoding that was not requested" };
  try {
    return { bytes: await unzip(body, { maxOutputLength: REPLY_CAP }) };
  } catch (cause) {
    const tooLarge = cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
    if (tooLarge) return { state: "oversize", fault: `unpacks to more than ${REPLY_CAP} bytes` };
    return { state: "other", raw: "", fault: "is not valid gzip" };
  }
}

function kindOf(contentType: Headers[string]): string {
  const type = mediaType(contentType);
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? ` (${type})` : "";
}

/** The media type in a header, without its parameters; empty if there is none. */
export function mediaType(contentType: Headers[string]): string {
  const [type = ""] = typeof contentType === "string" ? contentType.split(";") : [];
  return type.trim().toLowerCase();
}
