import type { Json } from "../../contract/json.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../../model/credential.ts";
import { type Fault, MOST_FAULTS } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import type { DocumentOutline } from "../outline.ts";
import { numberFault, resolvePlain } from "../scalar.ts";
import { APOSTROPHE, BACKSLASH, LINE_FEED, QUOTE, TAB } from "./characters.ts";
import type { Cut } from "./cut.ts";
import { keysOf, type MappingShape } from "./shape.ts";

/** A document that is being read. */
export type Reading = {
  readonly text: string;
  readonly limits: YamlLimits;
  readonly cut: Cut;
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
 * Takes a value in, which counts as one node, or with its key as two; false where there are too many by now. `key` is where
 * its key begins, or where an item stands that has no place of its own.
 */
export function take(reading: Reading, value: Json, nodes: 1 | 2, key: number): boolean {
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

/** The value of an unquoted scalar; undefined where a reader would have something to say about it. */
export function scalarAt(reading: Reading, from: number, end: number): Json | undefined {
  const { text, cut } = reading;
  if (isSurelyText(text.charCodeAt(from))) return noted(reading, cut(from, end));
  const number = smallInteger(text, from, end);
  if (number >= 0) return number;
  const word = cut(from, end);
  const scalar = resolvePlain(word);
  if (scalar.is !== "value") {
    const { is } = scalar;
    return noteFault(reading, () => numberFault(is, from)) ? 0 : undefined;
  }
  return typeof scalar.value === "string" ? noted(reading, word) : scalar.value;
}

// No number and none of YAML's words begins with any other letter.
function isSurelyText(first: number): boolean {
  const letter = first | 0x20;
  return letter >= 0x61 && letter <= 0x7a && letter !== 0x66 && letter !== 0x6e && letter !== 0x74;
}

const MOST_DIGITS = 9;

// Most numbers of manifests: whole, and not negative; -1 for any other.
function smallInteger(text: string, from: number, end: number): number {
  if (end - from > MOST_DIGITS || (text.charCodeAt(from) === 0x30 && end - from > 1)) return -1;
  let number = 0;
  for (let at = from; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    number = 10 * number + digit;
  }
  return number;
}

/** A text of a manifest, looked at for credentials. */
export function noted(reading: Reading, word: string): string {
  if (word.length >= SHORTEST_CREDENTIAL && !reading.hasCredentials && isCredential(word))
    reading.hasCredentials = true;
  return word;
}

/** What stands between quotes, and where it ends behind them. */
export type Quoted = { readonly word: string; readonly end: number };

/** Reads what is quoted from a place on; null where it goes over several lines or has an unusual escape. */
export function readQuoted({ text, cut }: Source, from: number): Quoted | null {
  return text.charCodeAt(from) === APOSTROPHE ? readSingle(text, cut, from) : readDouble(text, cut, from);
}

type Source = Pick<Reading, "text" | "cut">;

function readSingle(text: string, cut: Cut, from: number): Quoted | null {
  let hasQuotes = false;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return null;
    if (code !== APOSTROPHE) continue;
    if (text.charCodeAt(at + 1) !== APOSTROPHE) {
      const word = cut(from + 1, at);
      return { word: hasQuotes ? word.replaceAll("''", "'") : word, end: at + 1 };
    }
    hasQuotes = true;
    at++;
  }
  return null;
}

// The escapes that JSON has as well; what it has besides tells characters by number.
const ESCAPES = '"\\/bfnrt';

function readDouble(text: string, cut: Cut, from: number): Quoted | null {
  let hasEscapes = false;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === TAB) return null;
    if (code === QUOTE) {
      const word = hasEscapes ? String(JSON.parse(text.slice(from, at + 1))) : cut(from + 1, at);
      return { word, end: at + 1 };
    }
    if (code !== BACKSLASH) continue;
    if (!ESCAPES.includes(text.charAt(++at))) return null;
    hasEscapes = true;
  }
  return null;
}
