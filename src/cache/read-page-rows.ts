// biome-ignore-all lint/plugin: no page may contain the marker of its rows
import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { endOfString, isTooDeep, measureJson } from "../contract/measure-json.ts";

// Replaces the list of rows while the rest of the page is parsed. If the parsed page lacks it, another field took its
// place.
const ROWS = randomUUID();

/**
 * Reads a page, parsing each row separately from its bytes. Throws if the page is not JSON; returns null if it must be
 * parsed as a whole.
 */
export function readPageRows(
  bytes: Buffer,
  maxDepth: number,
  readRow: (bytes: Buffer) => JsonObject,
): (JsonObject & { readonly data: readonly JsonObject[] }) | null {
  const spans = rowSpans(bytes, maxDepth);
  const envelope = spans && readEnvelope(bytes, spans.list, maxDepth);
  if (spans === null || envelope === null) return null;
  // One row at a time: the text of a whole page would stay in memory for long.
  return { ...envelope, data: spans.rows.map(({ start, end }) => readRow(bytes.subarray(start, end))) };
}

function readEnvelope(bytes: Buffer, list: Span, maxDepth: number): JsonObject | null {
  const rest = Buffer.concat([bytes.subarray(0, list.start), Buffer.from(`"${ROWS}"`), bytes.subarray(list.end)]);
  if (isTooDeep(rest, maxDepth)) return null;
  const envelope: Json = JSON.parse(rest.toString("utf8"));
  return isObject(envelope) && envelope.data === ROWS ? envelope : null;
}

// Offsets of a value in the bytes.
type Span = { readonly start: number; readonly end: number };

// The rows of a page, and the list that holds them, brackets included.
type RowSpans = { readonly rows: readonly Span[]; readonly list: Span };

const [QUOTE, OPEN_LIST, CLOSE_LIST, OPEN, COMMA, COLON] = Buffer.from('"[]{,:');
const NAME = Buffer.from('"data"');

/**
 * Finds the rows of a page, `{"data": [row, …], …}`, without parsing them: only balanced brackets are checked. Null if
 * the rows cannot be separated this way, or are nested too deep.
 */
function rowSpans(bytes: Buffer, maxDepth: number): RowSpans | null {
  const start = listStart(bytes, maxDepth);
  if (start === -1) return null;
  const rows: Span[] = [];
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_LIST) return { rows, list: { start, end: at + 1 } };
  for (;;) {
    // Each row is nested in the object of the page and in the list: two levels.
    const end = bytes[at] === OPEN ? measureJson(bytes, { from: at, maxDepth: maxDepth - 2 }).end : -1;
    if (end === -1) return null;
    rows.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return { rows, list: { start, end: at + 1 } };
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
}

// The offset of the list in the first `data` field of the page; -1 if there is none.
function listStart(bytes: Buffer, maxDepth: number): number {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN) return -1;
  at += 1;
  while (at < bytes.length) {
    if (bytes[at] === QUOTE) {
      const end = endOfString(bytes, at + 1) + 1;
      const value = valueStart(bytes, end);
      if (value !== -1 && NAME.equals(bytes.subarray(at, end))) return bytes[value] === OPEN_LIST ? value : -1;
      at = end;
    } else if (bytes[at] === OPEN || bytes[at] === OPEN_LIST) {
      at = measureJson(bytes, { from: at, maxDepth }).end;
      if (at === -1) return -1;
    } else at += 1;
  }
  return -1;
}

// The offset of the value after a key that ends at `end`; -1 if the string is not a key.
function valueStart(bytes: Buffer, end: number): number {
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}
