import type { Json } from "../../contract/json.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../../model/credential.ts";
import { type Fault, MAX_FAULTS } from "../fault.ts";
import type { FieldOffsets } from "../field-offsets.ts";
import type { YamlLimits } from "../limits.ts";
import { keysOf, type MappingShape } from "./mapping-shape.ts";
import type { Slice } from "./slice.ts";

/** The state of the fast parser within one document. */
export type ParserState = {
  readonly text: string;
  readonly limits: YamlLimits;
  readonly slice: Slice;
  /** The values inside what is open, in the order of the text, and how many they are. */
  readonly values: Json[];
  open: number;
  /** Where reading goes on: at the content of a line, once something is read whole. */
  at: number;
  /** Column of that content; -1 at the end of the text. */
  column: number;
  /** Keys and values so far. */
  nodes: number;
  hasCredentials: boolean;
  /** Lines inside brackets stand to the right of this column. */
  margin: number;
  /** Where the value read last begins; -1 where its key says more, or there is nothing. */
  start: number;
  /** Where each of the values stands, and what is inside the one read last; null where nobody asks. */
  readonly places: FieldOffsets[] | null;
  inside: FieldOffsets["inside"];
  /** What is wrong with keys and numbers; null where a document with such a fault is read no further. */
  readonly faults: Fault[] | null;
  /** Whether it was read no further for such a fault. */
  isFaulty: boolean;
};

/** Notes a fault; false where the document is read no further for it. */
export function noteFault(state: ParserState, found: () => Fault): boolean {
  state.isFaulty = true;
  if (state.faults === null) return false;
  if (state.faults.length < MAX_FAULTS) state.faults.push(found());
  return true;
}

/**
 * Adds a value, which counts as one node, or as two with its key; false when there are too many nodes. `key` is where its
 * key begins, or where an item stands that has no place of its own.
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

/** Notes what is inside the collection whose values begin at the given one, and where it begins itself. */
export function noteInside(state: ParserState, from: number, start: number, shape: MappingShape | null): void {
  state.start = start;
  if (state.places === null) return;
  const places = state.places.slice(from, state.open);
  const keys = shape === null ? null : keysOf(shape);
  const inside = new Map<string, FieldOffsets>();
  for (const [nth, place] of places.entries()) {
    const name = keys?.[nth] ?? String(nth);
    // Of a key that stands twice the first one counts.
    if (!inside.has(name)) inside.set(name, place);
  }
  state.inside = inside;
}

/** The list of the values from the given one on; a list that grew item by item would keep room for more of them. */
export function listOf(state: ParserState, from: number, start: number): Json {
  noteInside(state, from, start, null);
  const items = state.values.slice(from, state.open);
  state.open = from;
  return items;
}

/** Returns a text as it is, after it was checked for credentials. */
export function checkedText(state: ParserState, word: string): string {
  if (word.length >= SHORTEST_CREDENTIAL && !state.hasCredentials && isCredential(word)) state.hasCredentials = true;
  return word;
}
