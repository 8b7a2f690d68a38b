import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { isTooDeep } from "../contract/json-size.ts";
import { rowSpans, type Span } from "./reply-row-spans.ts";

// Stands for the list of rows while the rest of the page is read: where it does not come back, something else did.
const ROWS = randomUUID();

/**
 * Reads a page, each of its rows by itself from its bytes. Throws where it is not JSON; null where it must be read as a
 * whole.
 */
export function readPage(
  bytes: Buffer,
  maxDepth: number,
  readRow: (bytes: Buffer) => JsonObject,
): (JsonObject & { readonly data: readonly JsonObject[] }) | null {
  const spans = rowSpans(bytes, maxDepth);
  const envelope = spans && readEnvelope(bytes, spans.list, maxDepth);
  if (spans === null || envelope === null) return null;
  // One by one: the text of a whole page would lie in memory for long.
  return { ...envelope, data: spans.rows.map(({ start, end }) => readRow(bytes.subarray(start, end))) };
}

function readEnvelope(bytes: Buffer, list: Span, maxDepth: number): JsonObject | null {
  const rest = Buffer.concat([bytes.subarray(0, list.start), Buffer.from(`"${ROWS}"`), bytes.subarray(list.end)]);
  if (isTooDeep(rest, maxDepth)) return null;
  const envelope: Json = JSON.parse(rest.toString("utf8"));
  return isObject(envelope) && envelope.data === ROWS ? envelope : null;
}
