import type { Json } from "../../contract/json.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../../model/credential.ts";
import type { DocumentOutline } from "../document-outline.ts";
import { type Fault, MOST_FAULTS } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import { keysOf, type MappingShape } from "./mapping-shape.ts";
import type { Slice } from "./slice.ts";

/** A document that is being read. */
export type Reading = {
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
  readonly places: DocumentOutline[] | null;
  inside: DocumentOutline["inside"];
  /** What is wrong with keys and numbers; null where a document with such a fault is read no further. */
  readonly faults: Fault[] | null;
  /** Whether it was read no further for such a fault. */
  isFaulty: boolean;
};

/** Notes a fault; false where the document is read no further for it. */
export function noteFault(reading: Reading, found: () => Fault): boolean {
  reading.isFaulty = true;
  if (reading.faults === null) return false;
  if (reading.faults.length < MOST_FAULTS) reading.faults.push(found());
  return true;
}

/**
 * Adds a value, which counts as one node, or as two with its key; false when there are too many nodes. `key` is where its
 * key begins, or where an item stands that has no place of its own.
 */
export function addValue(reading: Reading, value: Json, nodes: 1 | 2, key: number): boolean {
  if (reading.places !== null) reading.places[reading.open] = placeOf(reading, nodes, key);
  reading.values[reading.open++] = value;
  reading.nodes += nodes;
  return reading.nodes <= reading.limits.nodes;
}

function placeOf(reading: Reading, nodes: 1 | 2, key: number): DocumentOutline {
  const { start, inside } = reading;
  reading.inside = null;
  const value = start < 0 ? key : start;
  return { key: nodes === 1 ? value : key, value, inside };
}

/** Notes what is inside the collection whose values begin at the given one, and where it begins itself. */
export function noteInside(reading: Reading, from: number, start: number, shape: MappingShape | null): void {
  reading.start = start;
  if (reading.places === null) return;
  const places = reading.places.slice(from, reading.open);
  const keys = shape === null ? null : keysOf(shape);
  const inside = new Map<string, DocumentOutline>();
  for (const [nth, place] of places.entries()) {
    const name = keys?.[nth] ?? String(nth);
    // Of a key that stands twice the first one counts.
    if (!inside.has(name)) inside.set(name, place);
  }
  reading.inside = inside;
}

/** The list of the values from the given one on; a list that grew item by item would keep room for more of them. */
export function listOf(reading: Reading, from: number, start: number): Json {
  noteInside(reading, from, start, null);
  const items = reading.values.slice(from, reading.open);
  reading.open = from;
  return items;
}

/** Returns a text as it is, after it was checked for credentials. */
export function checkedText(reading: Reading, word: string): string {
  if (word.length >= SHORTEST_CREDENTIAL && !reading.hasCredentials && isCredential(word))
    reading.hasCredentials = true;
  return word;
}
