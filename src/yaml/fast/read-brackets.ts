import type { Json } from "../../contract/json.ts";
import { mappingOf, noteDuplicateKey } from "./build-mapping.ts";
import {
  APOSTROPHE,
  afterSpaces,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  endBetween,
  endOfLine,
  HASH,
  isGap,
  isRest,
  LINE_FEED,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
} from "./characters.ts";
import { noKeys, withKey } from "./mapping-shape.ts";
import { readKeyAt } from "./read-key.ts";
import { addValue, checkedText, listOf, noteInside, type Reading } from "./reading.ts";
import { readQuoted, scalarAt } from "./scalar.ts";

/** Reads a list or mapping in brackets; undefined where it is not surely one. */
export function readBrackets(reading: Reading, depth: number): Json | undefined {
  if (depth > reading.limits.depth) return undefined;
  return reading.text.charCodeAt(reading.at) === OPENING_BRACKET
    ? readList(reading, depth)
    : readFields(reading, depth);
}

function readList(reading: Reading, depth: number): Json | undefined {
  const { open: from, at: start } = reading;
  toNext(reading, start + 1);
  while (!isAt(reading, CLOSING_BRACKET)) {
    const item = readValue(reading, depth);
    if (item === undefined || !addValue(reading, item, 1, start) || !goesOn(reading, CLOSING_BRACKET)) return undefined;
  }
  reading.at++;
  return listOf(reading, from, start);
}

function readFields(reading: Reading, depth: number): Json | undefined {
  const { open: from, at: start } = reading;
  let shape = noKeys;
  toNext(reading, start + 1);
  while (!isAt(reading, CLOSING_BRACE)) {
    const keyAt = reading.at;
    const key = readKey(reading);
    const next = key === null ? null : withKey(shape, key);
    if (next === null || next.size > reading.limits.keys) return undefined;
    shape = next;
    const value = readValue(reading, depth);
    if (value === undefined || !addValue(reading, value, 2, keyAt)) return undefined;
    noteDuplicateKey(reading, from, shape);
    if (!goesOn(reading, CLOSING_BRACE)) return undefined;
  }
  reading.at++;
  noteInside(reading, from, start, shape);
  reading.open = from;
  return shape === noKeys ? {} : mappingOf(reading, shape, from);
}

function isAt({ text, at }: Reading, code: number): boolean {
  return text.charCodeAt(at) === code;
}

// To what follows a place, past the ends of lines; to the end of the text where a line is not indented enough.
function toNext(reading: Reading, from: number): void {
  const { text, margin } = reading;
  reading.at = afterSpaces(text, from);
  if (!isRest(text, from)) return;
  let start = 0;
  do {
    start = endOfLine(text, reading.at) + 1;
    reading.at = afterSpaces(text, start);
    // At the start of a line a comment is none to every reader.
  } while (isAt(reading, LINE_FEED) || (isAt(reading, HASH) && reading.at > start));
  if (reading.at - start <= margin) reading.at = text.length;
}

// Past the comma behind a value, or to what closes the brackets.
function goesOn(reading: Reading, closing: number): boolean {
  toNext(reading, reading.at);
  if (isAt(reading, closing)) return true;
  if (!isAt(reading, COMMA)) return false;
  toNext(reading, reading.at + 1);
  return true;
}

// A colon behind quotes needs no space.
function readKey(reading: Reading): string | null {
  const { text } = reading;
  const key = readKeyAt(reading, reading.at, endBetween);
  if (key === null || text.charCodeAt(key.end) !== COLON) return null;
  if (key.isBare && !isGap(text, key.end + 1)) return null;
  toNext(reading, key.end + 1);
  return key.word;
}

function readValue(reading: Reading, depth: number): Json | undefined {
  const { text, at } = reading;
  const code = text.charCodeAt(at);
  if (code === OPENING_BRACKET || code === OPENING_BRACE) return readBrackets(reading, depth + 1);
  if (code === QUOTE || code === APOSTROPHE) {
    const quoted = readQuoted(reading, at);
    if (quoted === null) return undefined;
    reading.at = quoted.end;
    reading.start = at;
    return checkedText(reading, quoted.word);
  }
  const end = endBetween(text, at);
  if (end < 0) return undefined;
  reading.at = end;
  reading.start = at;
  return scalarAt(reading, at, end);
}
