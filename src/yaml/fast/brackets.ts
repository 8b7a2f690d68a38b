import type { Json } from "../../contract/json.ts";
import {
  APOSTROPHE,
  afterSpaces,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  endBetween,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  SPACE,
} from "./characters.ts";
import { keyIn } from "./key.ts";
import { noKeys, objectOf, withKey } from "./shape.ts";
import { listOf, noted, type Reading, readQuoted, scalarAt, take } from "./word.ts";

/** Reads a list or mapping in brackets, within one line; undefined where it is not surely one. */
export function readBrackets(reading: Reading, depth: number): Json | undefined {
  if (depth > reading.limits.depth) return undefined;
  return reading.text.charCodeAt(reading.at) === OPENING_BRACKET
    ? readList(reading, depth)
    : readFields(reading, depth);
}

function readList(reading: Reading, depth: number): Json | undefined {
  const from = reading.open;
  if (isEmpty(reading, CLOSING_BRACKET)) return [];
  do {
    const item = readValue(reading, depth);
    if (item === undefined || !take(reading, item, 1)) return undefined;
  } while (goesOn(reading));
  return closes(reading, CLOSING_BRACKET) ? listOf(reading, from) : undefined;
}

function readFields(reading: Reading, depth: number): Json | undefined {
  const from = reading.open;
  let shape = noKeys;
  if (isEmpty(reading, CLOSING_BRACE)) return {};
  do {
    const key = readKey(reading);
    const next = key === null ? null : withKey(shape, key);
    if (next === null || next.size > reading.limits.keys) return undefined;
    shape = next;
    const value = readValue(reading, depth);
    if (value === undefined || !take(reading, value, 2)) return undefined;
  } while (goesOn(reading));
  reading.open = from;
  if (!closes(reading, CLOSING_BRACE)) return undefined;
  return objectOf(shape, reading.values, from) ?? undefined;
}

function isEmpty(reading: Reading, closing: number): boolean {
  reading.at = afterSpaces(reading.text, reading.at + 1);
  return closes(reading, closing);
}

function closes(reading: Reading, closing: number): boolean {
  if (reading.text.charCodeAt(reading.at) !== closing) return false;
  reading.at++;
  return true;
}

// Goes to what follows the value: past a comma, where there is one.
function goesOn(reading: Reading): boolean {
  reading.at = afterSpaces(reading.text, reading.at);
  if (reading.text.charCodeAt(reading.at) !== COMMA) return false;
  reading.at = afterSpaces(reading.text, reading.at + 1);
  return true;
}

function readKey(reading: Reading): string | null {
  const { text } = reading;
  const key = keyIn(reading, reading.at, endBetween);
  if (key === null || text.charCodeAt(key.end) !== COLON || text.charCodeAt(key.end + 1) !== SPACE) return null;
  reading.at = afterSpaces(text, key.end + 1);
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
    return noted(reading, quoted.word);
  }
  const end = endBetween(text, at);
  if (end < 0) return undefined;
  reading.at = end;
  return scalarAt(reading, at, end);
}
