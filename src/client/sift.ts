import { Buffer } from "node:buffer";
import { randomUUID } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { isTooDeep } from "./json-depth.ts";
import { imprinted, imprintOf, type Recall } from "./recall.ts";
import { rowSpans, type Span } from "./rows.ts";

// Stands for the list of rows while the rest of the page is read: where it does not come back, something else did.
const ROWS = randomUUID();

/**
 * Reads a page, but for what is known by its bytes: the page, or rows of it. Throws where it is not JSON; null where it must be
 * read as a whole.
 */
export function sift(bytes: Buffer, recall: Recall, maxDepth: number): Json | null {
  const imprint = recall.page === undefined ? null : imprintOf(bytes);
  const known = imprint === null ? null : (recall.page?.(imprint) ?? null);
  if (known !== null) return known;
  const spans = rowSpans(bytes, maxDepth);
  const envelope = spans && readEnvelope(bytes, spans.list, maxDepth);
  if (spans === null || envelope === null) return null;
  const data = spans.rows.map(({ start, end }) => readRow(bytes.subarray(start, end), recall));
  return imprint === null ? { ...envelope, data } : imprinted({ ...envelope, data }, imprint);
}

function readEnvelope(bytes: Buffer, list: Span, maxDepth: number): JsonObject | null {
  const rest = Buffer.concat([bytes.subarray(0, list.start), Buffer.from(`"${ROWS}"`), bytes.subarray(list.end)]);
  if (isTooDeep(rest, maxDepth)) return null;
  const envelope: Json = JSON.parse(rest.toString("utf8"));
  return isObject(envelope) && envelope.data === ROWS ? envelope : null;
}

// One by one: the text of a whole page would lie in memory for long.
function readRow(bytes: Buffer, recall: Recall): JsonObject {
  const imprint = imprintOf(bytes);
  const known = recall.row(imprint);
  if (known !== null) return known;
  const row = imprinted(JSON.parse(bytes.toString("utf8")), imprint);
  return recall.settle?.(row, imprint) ?? row;
}
