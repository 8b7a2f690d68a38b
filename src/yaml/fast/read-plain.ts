import type { Json } from "../../contract/json.ts";
import type { DocumentOutline } from "../document-outline.ts";
import { type Fault, tooManyNodes } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import type { Chunk } from "../split-documents.ts";
import { mappingOf, noteDuplicateKey } from "./build-mapping.ts";
import {
  APOSTROPHE,
  afterSpaces,
  BAR,
  COLON,
  endOfKey,
  endOfLine,
  endOfValue,
  GREATER,
  HASH,
  isGap,
  isItem,
  isRest,
  LINE_FEED,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "./characters.ts";
import { type MappingShape, noKeys, withKey } from "./mapping-shape.ts";
import { readBlock } from "./read-block.ts";
import { readBrackets } from "./read-brackets.ts";
import { readKeyAt } from "./read-key.ts";
import { addValue, checkedText, listOf, noteInside, type Reading } from "./reading.ts";
import { readQuoted, scalarAt } from "./scalar.ts";
import { type Slice, slicer } from "./slice.ts";

/** The value of a document. */
export type Plain = {
  readonly value: Json;
  /** Where the content starts. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
  /** What is wrong with keys and numbers. */
  readonly faults: readonly Fault[];
};

/** A document that is read no further. */
export type Refused = { readonly fault: Fault };

/**
 * Reads a document as nearly all are written: block mappings and lists, quoted and unquoted scalars, brackets, block texts.
 * Keys that stand twice and surprising numbers are its faults. Null where it is anything else, has another fault or might
 * have one: the exact reader knows what to say of that. Every character
 * is taken for what it looks like, so the text must hold no carriage return and none that is invisible. The bytes are
 * those of the whole file, where each is a character.
 */
export function readPlain(chunk: Chunk, bytes: Uint8Array | null, limits: YamlLimits): Plain | Refused | null {
  const reading = beginning(chunk.text, slicer(chunk, bytes), limits, null);
  const read = readFrom(reading);
  if (read !== null || !reading.isFaulty) return read;
  // Only now, since noting where everything stands takes longer.
  return readFrom(beginning(chunk.text, slicer(chunk, bytes), limits, []));
}

/** Where the fields of a document stand that `readPlain` can read; its text begins at the chunk's offset. Null for any other. */
export function outlinePlain(chunk: Chunk, limits: YamlLimits): DocumentOutline | null {
  const places: DocumentOutline[] = [];
  const reading = beginning(chunk.text, slicer(chunk, null), limits, places);
  const read = readFrom(reading);
  if (read === null || "fault" in read) return null;
  return moved({ key: read.offset, value: read.offset, inside: reading.inside }, chunk.offset);
}

function moved(outline: DocumentOutline, by: number): DocumentOutline {
  if (by === 0) return outline;
  const { key, value, inside } = outline;
  const within = inside === null ? null : new Map(Array.from(inside, ([name, each]) => [name, moved(each, by)]));
  return { key: key + by, value: value + by, inside: within };
}

function readFrom(reading: Reading): Plain | Refused | null {
  const { text } = reading;
  if (text.startsWith("---") && !toNextLine(reading, 3)) return null;
  if (reading.at === 0) toContent(reading, 0);
  const offset = reading.at;
  const value = readRoot(reading);
  // Whatever else the text holds, it was plain so far.
  const faults = reading.faults ?? [];
  if (reading.nodes > reading.limits.nodes && faults.length === 0)
    return { fault: tooManyNodes(reading.limits.nodes, offset) };
  if (value === undefined || !isAtEnd(reading)) return null;
  return { value, offset, hasCredentials: reading.hasCredentials, faults };
}

function readRoot(reading: Reading): Json | undefined {
  const { text, at, column } = reading;
  const code = text.charCodeAt(at);
  if (code === OPENING_BRACKET || code === OPENING_BRACE) return readInLine(reading, at, -1, 0);
  return column === 0 ? readNode(reading, noKeys, 1) : undefined;
}

function beginning(text: string, slice: Slice, limits: YamlLimits, places: DocumentOutline[] | null): Reading {
  const position = { open: 0, at: 0, column: 0, nodes: 1, margin: -1, start: -1 };
  const found = { hasCredentials: false, faults: places === null ? null : [], isFaulty: false };
  return { text, limits, slice, values: [], ...position, ...found, places, inside: null };
}

function isAtEnd({ column }: Reading): boolean {
  return column < 0;
}

// Where this line has no more, goes to the next one that has content.
function toNextLine(reading: Reading, from: number): boolean {
  const { text } = reading;
  const isOver = text.charCodeAt(from) === LINE_FEED;
  if (!isOver && !isRest(text, from)) return false;
  toContent(reading, isOver ? from + 1 : endOfLine(text, from) + 1);
  return true;
}

// From the start of a line to the content of the first one that has any.
function toContent(reading: Reading, from: number): void {
  const { text } = reading;
  let start = from;
  while (start < text.length) {
    const at = afterSpaces(text, start);
    const code = text.charCodeAt(at);
    if (code !== LINE_FEED && code !== HASH && at < text.length) {
      reading.at = at;
      reading.column = at - start;
      return;
    }
    start = endOfLine(text, at) + 1;
  }
  reading.at = text.length;
  reading.column = -1;
}

function readNode(reading: Reading, above: MappingShape, depth: number): Json | undefined {
  return isItem(reading.text, reading.at) ? readList(reading, above, depth) : readMapping(reading, above, depth);
}

function readMapping(reading: Reading, above: MappingShape, depth: number): Json | undefined {
  const { column, open: from, at: start } = reading;
  if (depth > reading.limits.depth) return undefined;
  let shape = noKeys;
  do {
    const keyAt = reading.at;
    const next = readKey(reading, shape, above);
    if (next === null || next.size > reading.limits.keys) return undefined;
    shape = next;
    const value = readField(reading, column, shape, depth);
    if (value === undefined || !addValue(reading, value, 2, keyAt)) return undefined;
    noteDuplicateKey(reading, from, shape);
  } while (reading.column === column);
  if (reading.column > column) return undefined;
  noteInside(reading, from, start, shape);
  reading.open = from;
  return mappingOf(reading, shape, from);
}

// What followed last time mostly follows again: then the key is known without being copied.
function readKey(reading: Reading, shape: MappingShape, above: MappingShape): MappingShape | null {
  const { text, at } = reading;
  const guess = shape === noKeys ? above.inside : shape.guess;
  if (guess === null || !text.startsWith(guess.key, at)) return readOtherKey(reading, shape, above);
  const end = at + guess.key.length;
  if (text.charCodeAt(end) !== COLON || !isGap(text, end + 1)) return readOtherKey(reading, shape, above);
  reading.at = end + 1;
  return guess;
}

function readOtherKey(reading: Reading, shape: MappingShape, above: MappingShape): MappingShape | null {
  const { text } = reading;
  const key = readKeyAt(reading, reading.at, endOfKey);
  if (key === null || text.charCodeAt(key.end) !== COLON || !isGap(text, key.end + 1)) return null;
  const next = withKey(shape, key.word);
  reading.at = key.end + 1;
  if (!key.isBare) return next;
  if (shape === noKeys) above.inside = next;
  else shape.guess = next;
  return next;
}

function readField(reading: Reading, column: number, key: MappingShape, depth: number): Json | undefined {
  const { text } = reading;
  const at = afterSpaces(text, reading.at);
  const isInLine = !isRest(text, reading.at);
  if (!isInLine) toContent(reading, endOfLine(text, at) + 1);
  const value = isInLine ? readInLine(reading, at, column, depth) : readBelow(reading, column, key, depth);
  // What goes on below its key is found by it.
  const first = text.charCodeAt(at);
  if (!isInLine || first === BAR || first === GREATER) reading.start = -1;
  return value;
}

function readBelow(reading: Reading, column: number, key: MappingShape, depth: number): Json | undefined {
  if (reading.column > column) return readNode(reading, key, depth + 1);
  // A list may stand as far to the left as its key.
  const isList = reading.column === column && isItem(reading.text, reading.at);
  return isList ? readList(reading, key, depth + 1) : null;
}

function readList(reading: Reading, above: MappingShape, depth: number): Json | undefined {
  const { text, column, open: from, at: start } = reading;
  if (depth > reading.limits.depth) return undefined;
  do {
    const item = readItem(reading, column, above, depth);
    if (item === undefined || !addValue(reading, item, 1, start)) return undefined;
  } while (reading.column === column && isItem(text, reading.at));
  return reading.column > column ? undefined : listOf(reading, from, start);
}

function readItem(reading: Reading, column: number, above: MappingShape, depth: number): Json | undefined {
  const { text } = reading;
  const from = reading.at + 1;
  const at = afterSpaces(text, from);
  if (isRest(text, from)) {
    toContent(reading, endOfLine(text, at) + 1);
    reading.start = -1;
    return reading.column > column ? readNode(reading, above, depth + 1) : null;
  }
  if (!isItem(text, at) && !isKey(reading, at)) return readInLine(reading, at, column, depth);
  // What begins in the line of its dash goes on below its first character.
  reading.column = column + at - reading.at;
  reading.at = at;
  return readNode(reading, above, depth + 1);
}

function isKey(reading: Reading, at: number): boolean {
  const { text } = reading;
  const code = text.charCodeAt(at);
  if (code !== QUOTE && code !== APOSTROPHE) return endOfKey(text, at) >= 0;
  const quoted = readQuoted(reading, at);
  return quoted !== null && text.charCodeAt(quoted.end) === COLON;
}

function readInLine(reading: Reading, at: number, column: number, depth: number): Json | undefined {
  const value = readScalarOrBrackets(reading, at, column, depth);
  reading.start = at;
  return value;
}

function readScalarOrBrackets(reading: Reading, at: number, column: number, depth: number): Json | undefined {
  const { text } = reading;
  switch (text.charCodeAt(at)) {
    case QUOTE:
    case APOSTROPHE: {
      const quoted = readQuoted(reading, at);
      return quoted !== null && toNextLine(reading, quoted.end) ? checkedText(reading, quoted.word) : undefined;
    }
    case OPENING_BRACKET:
    case OPENING_BRACE: {
      reading.at = at;
      reading.margin = column;
      const value = readBrackets(reading, depth + 1);
      return toNextLine(reading, reading.at) ? value : undefined;
    }
    case BAR:
    case GREATER: {
      reading.at = at;
      const block = readBlock(reading, column);
      if (block !== undefined) toContent(reading, reading.at);
      return block;
    }
    default: {
      const end = endOfValue(text, at);
      if (end < 0 || !toNextLine(reading, end)) return undefined;
      return reading.column > column ? readFolded(reading, at, end, column) : scalarAt(reading, at, end);
    }
  }
}

// An unquoted text over several lines, each right below the other.
function readFolded(reading: Reading, from: number, firstEnd: number, column: number): string | undefined {
  const { text, slice } = reading;
  const parts = [slice(from, firstEnd)];
  let end = firstEnd;
  do {
    const line = endOfLine(text, end);
    const { at } = reading;
    if (afterSpaces(text, end) !== line || at - reading.column !== line + 1) return undefined;
    end = endOfValue(text, at);
    if (end < 0 || !toNextLine(reading, end)) return undefined;
    parts.push(slice(at, end));
  } while (reading.column > column);
  return checkedText(reading, parts.join(" "));
}
