import type { Json } from "../../contract/json.ts";
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
import {
  addValue,
  checkedText,
  listOf,
  mappingOf,
  noteDuplicateKey,
  noteInside,
  type ParserState,
} from "./parser-state.ts";
import { readKeyAt, readQuoted, scalarAt } from "./scalar.ts";

/** Reads a list or mapping in brackets; undefined if it is not certainly one. */
export function readBrackets(state: ParserState, depth: number): Json | undefined {
  if (depth > state.limits.depth) return undefined;
  return state.text.charCodeAt(state.at) === OPENING_BRACKET ? readList(state, depth) : readFields(state, depth);
}

function readList(state: ParserState, depth: number): Json | undefined {
  const { open: from, at: start } = state;
  toNext(state, start + 1);
  while (!isAt(state, CLOSING_BRACKET)) {
    const item = readValue(state, depth);
    if (item === undefined || !addValue(state, item, 1, start) || !goesOn(state, CLOSING_BRACKET)) return undefined;
  }
  state.at++;
  return listOf(state, from, start);
}

function readFields(state: ParserState, depth: number): Json | undefined {
  const { open: from, at: start } = state;
  let shape = noKeys;
  toNext(state, start + 1);
  while (!isAt(state, CLOSING_BRACE)) {
    const keyAt = state.at;
    const key = readKey(state);
    const next = key === null ? null : withKey(shape, key);
    if (next === null || next.size > state.limits.keys) return undefined;
    shape = next;
    const value = readValue(state, depth);
    if (value === undefined || !addValue(state, value, 2, keyAt)) return undefined;
    noteDuplicateKey(state, from, shape);
    if (!goesOn(state, CLOSING_BRACE)) return undefined;
  }
  state.at++;
  noteInside(state, from, start, shape);
  state.open = from;
  return shape === noKeys ? {} : mappingOf(state, shape, from);
}

function isAt({ text, at }: ParserState, code: number): boolean {
  return text.charCodeAt(at) === code;
}

// Moves to the next content, across line ends; to the end of the text if a line is not indented enough.
function toNext(state: ParserState, from: number): void {
  const { text, margin } = state;
  state.at = afterSpaces(text, from);
  if (!isRest(text, from)) return;
  let start = 0;
  do {
    start = endOfLine(text, state.at) + 1;
    state.at = afterSpaces(text, start);
    // Some parsers do not accept a comment at the start of a line inside brackets.
  } while (isAt(state, LINE_FEED) || (isAt(state, HASH) && state.at > start));
  if (state.at - start <= margin) state.at = text.length;
}

// Moves past the comma after a value, or to the closing bracket.
function goesOn(state: ParserState, closing: number): boolean {
  toNext(state, state.at);
  if (isAt(state, closing)) return true;
  if (!isAt(state, COMMA)) return false;
  toNext(state, state.at + 1);
  return true;
}

// A colon after a quoted key needs no space.
function readKey(state: ParserState): string | null {
  const { text } = state;
  const key = readKeyAt(state, state.at, endBetween);
  if (key === null || text.charCodeAt(key.end) !== COLON) return null;
  if (key.isBare && !isGap(text, key.end + 1)) return null;
  toNext(state, key.end + 1);
  return key.word;
}

function readValue(state: ParserState, depth: number): Json | undefined {
  const { text, at } = state;
  const code = text.charCodeAt(at);
  if (code === OPENING_BRACKET || code === OPENING_BRACE) return readBrackets(state, depth + 1);
  if (code === QUOTE || code === APOSTROPHE) {
    const quoted = readQuoted(state, at);
    if (quoted === null) return undefined;
    state.at = quoted.end;
    state.start = at;
    return checkedText(state, quoted.word);
  }
  const end = endBetween(text, at);
  if (end < 0) return undefined;
  state.at = end;
  state.start = at;
  return scalarAt(state, at, end);
}
