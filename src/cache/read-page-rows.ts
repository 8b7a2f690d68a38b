import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { endOfString, isTooDeep, measureJson } from "../contract/measure-json.ts";

// Stands for the list of rows while the rest of the page is read: where it does not come back, something else did.
const ROWS = randomUUID();

/**
 * Reads a page, each of its rows by itself from its bytes. Throws where it is not JSON; null where it must be read as a
 * whole.
 */
export function readPageRows(
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

// Where something stands in bytes.
type Span = { readonly start: number; readonly end: number };

// The rows of a page, and the list that holds them, brackets included.
type RowSpans = { readonly rows: readonly Span[]; readonly list: Span };

const [QUOTE, OPEN_LIST, CLOSE_LIST, OPEN, COMMA, COLON] = Buffer.from('"[]{,:');
const NAME = Buffer.from('"data"');

/**
 * Finds the rows of a page, `{"data": [row, …], …}`, without reading them: brackets balance, no more is sure. Null
 * where they cannot be told apart so, or are too deep.
 */
function rowSpans(bytes: Buffer, maxDepth: number): RowSpans | null {
  const start = listStart(bytes, maxDepth);
  if (start === -1) return null;
  const rows: Span[] = [];
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_LIST) return { rows, list: { start, end: at + 1 } };
  for (;;) {
    // Each stands within the page's object and its list.
    const end = bytes[at] === OPEN ? measureJson(bytes, { from: at, maxDepth: maxDepth - 2 }).end : -1;
    if (end === -1) return null;
    rows.push({ start: at, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_LIST) return { rows, list: { start, end: at + 1 } };
    if (bytes[at] !== COMMA) return null;
    at = skipSpace(bytes, at + 1);
  }
}

// Where the list under the page's first `data` starts; -1 where there is none.
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

// Where the value of a key starts that ends here; -1 where a string that is no key does.
function valueStart(bytes: Buffer, end: number): number {
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : -1;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at += 1;
  return at;
}
