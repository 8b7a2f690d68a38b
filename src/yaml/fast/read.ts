import type { Json } from "../../contract/json.ts";
import type { YamlLimits } from "../limits.ts";
import type { Chunk } from "../split.ts";
import { readBlock } from "./block.ts";
import { readBrackets } from "./brackets.ts";
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
import { type Cut, cutter } from "./cut.ts";
import { keyIn } from "./key.ts";
import { noKeys, objectOf, type Shape, withKey } from "./shape.ts";
import { listOf, noted, type Reading, readQuoted, scalarAt, take } from "./word.ts";

/** The value of a document without a fault. */
export type Plain = {
  readonly value: Json;
  /** Where the content starts. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
};

/**
 * Reads a document as nearly all are written: block mappings and lists, scalars and brackets within a line, block texts.
 * Null where it is anything else, has a fault or might have one: other readers know what to say of that. Every character
 * is taken for what it looks like, so the text must hold no carriage return and none that is invisible. The bytes are
 * those of the whole file, where each is a character.
 */
export function readPlain(chunk: Chunk, bytes: Uint8Array | null, limits: YamlLimits): Plain | null {
  const { text } = chunk;
  const reading = beginning(text, cutter(chunk, bytes), limits);
  if (text.startsWith("---") && !toNextLine(reading, 3)) return null;
  if (reading.at === 0) toContent(reading, 0);
  if (reading.column !== 0) return null;
  const offset = reading.at;
  const value = readMapping(reading, noKeys, 1);
  if (value === undefined || !isAtEnd(reading)) return null;
  return { value, offset, hasCredentials: reading.hasCredentials };
}

function beginning(text: string, cut: Cut, limits: YamlLimits): Reading {
  return { text, limits, cut, values: [], open: 0, at: 0, column: 0, nodes: 1, hasCredentials: false };
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

function readNode(reading: Reading, above: Shape, depth: number): Json | undefined {
  return isItem(reading.text, reading.at) ? readList(reading, above, depth) : readMapping(reading, above, depth);
}

function readMapping(reading: Reading, above: Shape, depth: number): Json | undefined {
  const { column, open: from } = reading;
  if (depth > reading.limits.depth) return undefined;
  let shape = noKeys;
  do {
    const next = readKey(reading, shape, above);
    if (next === null || next.size > reading.limits.keys) return undefined;
    shape = next;
    const value = readField(reading, column, shape, depth);
    if (value === undefined || !take(reading, value, 2)) return undefined;
  } while (reading.column === column);
  if (reading.column > column) return undefined;
  reading.open = from;
  return objectOf(shape, reading.values, from) ?? undefined;
}

// What followed last time mostly follows again: then the key is known without being cut out.
function readKey(reading: Reading, shape: Shape, above: Shape): Shape | null {
  const { text, at } = reading;
  const guess = shape === noKeys ? above.inside : shape.guess;
  if (guess === null || !text.startsWith(guess.key, at)) return readOtherKey(reading, shape, above);
  const end = at + guess.key.length;
  if (text.charCodeAt(end) !== COLON || !isGap(text, end + 1)) return readOtherKey(reading, shape, above);
  reading.at = end + 1;
  return guess;
}

function readOtherKey(reading: Reading, shape: Shape, above: Shape): Shape | null {
  const { text } = reading;
  const key = keyIn(reading, reading.at, endOfKey);
  if (key === null || text.charCodeAt(key.end) !== COLON || !isGap(text, key.end + 1)) return null;
  const next = withKey(shape, key.word);
  reading.at = key.end + 1;
  if (!key.isBare) return next;
  if (shape === noKeys) above.inside = next;
  else shape.guess = next;
  return next;
}

function readField(reading: Reading, column: number, key: Shape, depth: number): Json | undefined {
  const { text } = reading;
  const at = afterSpaces(text, reading.at);
  if (!isRest(text, reading.at)) return readInLine(reading, at, column, depth);
  toContent(reading, endOfLine(text, at) + 1);
  if (reading.column > column) return readNode(reading, key, depth + 1);
  // A list may stand as far to the left as its key.
  return reading.column === column && isItem(text, reading.at) ? readList(reading, key, depth + 1) : null;
}

function readList(reading: Reading, above: Shape, depth: number): Json | undefined {
  const { text, column, open: from } = reading;
  if (depth > reading.limits.depth) return undefined;
  do {
    const item = readItem(reading, column, above, depth);
    if (item === undefined || !take(reading, item, 1)) return undefined;
  } while (reading.column === column && isItem(text, reading.at));
  return reading.column > column ? undefined : listOf(reading, from);
}

function readItem(reading: Reading, column: number, above: Shape, depth: number): Json | undefined {
  const { text } = reading;
  const from = reading.at + 1;
  const at = afterSpaces(text, from);
  if (isRest(text, from)) {
    toContent(reading, endOfLine(text, at) + 1);
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
  const { text } = reading;
  switch (text.charCodeAt(at)) {
    case QUOTE:
    case APOSTROPHE: {
      const quoted = readQuoted(reading, at);
      return quoted !== null && toNextLine(reading, quoted.end) ? noted(reading, quoted.word) : undefined;
    }
    case OPENING_BRACKET:
    case OPENING_BRACE: {
      reading.at = at;
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
      return end >= 0 && toNextLine(reading, end) ? scalarAt(reading, at, end) : undefined;
    }
  }
}
