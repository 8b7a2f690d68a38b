import type { Json, JsonObject } from "../../contract/json.ts";
import { hasConnectionSecret } from "../../model/connection-secret.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../../model/credential.ts";
import { duplicateKey, type Fault, MAX_FAULTS } from "../fault.ts";
import type { FieldOffsets } from "../field-offsets.ts";
import type { YamlLimits } from "../limits.ts";
import { isRespelt, type RespeltText } from "../respelling.ts";
import { keysOf, type MappingShape, objectOf } from "./mapping-shape.ts";
import type { Slice } from "./slice.ts";

/** The state of the fast parser within one document. */
export type ParserState = {
  readonly text: string;
  readonly limits: YamlLimits;
  readonly slice: Slice;
  /** The values of the open collections, in text order; `open` is their number. */
  readonly values: Json[];
  open: number;
  /** The offset where reading continues: the content of a line, after a complete value. */
  at: number;
  /** Column of that content; -1 at the end of the text. */
  column: number;
  /** Number of keys and values read. */
  nodes: number;
  /** Whether a text is in a known credential format, or contains a secret of a connection string. */
  hasCredentials: boolean;
  /** Whether one may contain such a secret; searching each of them would take long. */
  readonly mayHaveConnections: boolean;
  /** Lines inside brackets must be indented beyond this column. */
  margin: number;
  /** The offset of the last read value; -1 when its key's offset is used, or there is no value. */
  start: number;
  /** The offsets of each value, and the children of the last read one; null when offsets are not requested. */
  readonly places: FieldOffsets[] | null;
  inside: FieldOffsets["inside"];
  /** Faults of keys and numbers; null when the first such fault ends the read. */
  readonly faults: Fault[] | null;
  /** Whether such a fault was found. */
  isFaulty: boolean;
  /** Whether a number or boolean has another text than its value. */
  isRespelt: boolean;
  /** Those texts, if offsets are requested. */
  readonly respelt: RespeltText[];
};

/** Records a fault; false when it ends the read of the document. */
export function noteFault(state: ParserState, found: () => Fault): boolean {
  state.isFaulty = true;
  if (state.faults === null) return false;
  if (state.faults.length < MAX_FAULTS) state.faults.push(found());
  return true;
}

/**
 * Adds a value, which counts as one node, or as two with its key; false when there are too many nodes. `key` is the
 * offset of its key, or of the list for an item without an offset of its own.
 */
export function addValue(state: ParserState, value: Json, nodes: 1 | 2, key: number): boolean {
  if (state.places !== null) state.places[state.open] = placeOf(state, nodes, key);
  state.values[state.open++] = value;
  state.nodes += nodes;
  return state.nodes <= state.limits.nodes;
}

function placeOf(state: ParserState, nodes: 1 | 2, key: number): FieldOffsets {
  const { start, inside } = state;
  state.inside = null;
  const value = start < 0 ? key : start;
  return { key: nodes === 1 ? value : key, value, inside };
}

/** Records the offset of a collection and its children, whose values start at `from`. */
export function noteInside(state: ParserState, from: number, start: number, shape: MappingShape | null): void {
  state.start = start;
  if (state.places === null) return;
  const places = state.places.slice(from, state.open);
  const keys = shape === null ? null : keysOf(shape);
  const inside = new Map<string, FieldOffsets>();
  for (const [nth, place] of places.entries()) {
    const name = keys?.[nth] ?? String(nth);
    // For a duplicate key the first occurrence counts.
    if (!inside.has(name)) inside.set(name, place);
  }
  state.inside = inside;
}

/** Builds a list of the values starting at `from`; a list that grew item by item would reserve more memory. */
export function listOf(state: ParserState, from: number, start: number): Json {
  noteInside(state, from, start, null);
  const items = state.values.slice(from, state.open);
  state.open = from;
  return items;
}

/** Notes a number or boolean with another text than its value, and returns the value unchanged. */
export function checkedSpelling(state: ParserState, value: Json, written: string, offset: number): Json {
  if (!isRespelt(written, value)) return value;
  state.isRespelt = true;
  if (state.places !== null) state.respelt.push({ offset, written });
  return value;
}

/** Checks a text for credentials and returns it unchanged. */
export function checkedText(state: ParserState, word: string): string {
  if (state.hasCredentials) return word;
  state.hasCredentials =
    (word.length >= SHORTEST_CREDENTIAL && isCredential(word)) ||
    (state.mayHaveConnections && hasConnectionSecret(word));
  return word;
}

/** Builds the mapping of a shape from the values starting at `from`; undefined when a duplicate key ends the read. */
export function mappingOf(state: ParserState, shape: MappingShape, from: number): JsonObject | undefined {
  const { values, faults } = state;
  const fields = objectOf(shape, values, from);
  if (fields !== null) return fields;
  state.isFaulty = true;
  return faults === null ? undefined : firstOfEach(shape, values, from);
}

function firstOfEach(shape: MappingShape, values: readonly Json[], from: number): JsonObject {
  const fields: Record<string, Json> = {};
  for (const [nth, key] of keysOf(shape).entries()) {
    if (!Object.hasOwn(fields, key)) fields[key] = values[from + nth] ?? null;
  }
  return fields;
}

/** Records a fault if the last key of a mapping is a duplicate; the mapping's values start at `from`. */
export function noteDuplicateKey(state: ParserState, from: number, shape: MappingShape): void {
  const { places, open } = state;
  if (places === null) return;
  let first: MappingShape | null = null;
  for (let each = shape.before; each !== null && each.size > 0; each = each.before) {
    if (each.key === shape.key) first = each;
  }
  const [before, again] = [first && places[from + first.size - 1], places[open - 1]];
  if (before && again) noteFault(state, () => duplicateKey(shape.key, again.key, before.key));
}
