import type { Json } from "../../contract/json.ts";
import { mayHaveConnectionSecret } from "../../model/connection-secret.ts";
import { type Fault, tooManyNodes } from "../fault.ts";
import type { FieldOffsets } from "../field-offsets.ts";
import type { YamlLimits } from "../limits.ts";
import { type Respelling, respellingsAt } from "../respelling.ts";
import type { Chunk } from "../split-documents.ts";
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
import {
  addValue,
  checkedText,
  listOf,
  mappingOf,
  noteDuplicateKey,
  noteInside,
  type ParserState,
} from "./parser-state.ts";
import { readBlock } from "./read-block.ts";
import { readBrackets } from "./read-brackets.ts";
import { readKeyAt, readQuoted, scalarAt } from "./scalar.ts";
import { type Slice, slicer } from "./slice.ts";

/** A document that was read. */
export type Plain = {
  readonly value: Json;
  /** The offset of its content. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
  /** Faults of keys and numbers. */
  readonly faults: readonly Fault[];
  /** Whether a number or boolean has another text than its value. */
  readonly isRespelt: boolean;
};

/** A document whose reading was stopped by a fault. */
export type Refused = { readonly fault: Fault };

/**
 * Reads the YAML subset of nearly all documents: block mappings and lists, quoted and unquoted scalars, brackets, block
 * scalars. Duplicate keys and surprising numbers are reported as faults. Null for any other syntax, and for any other
 * possible fault, which the exact reader can explain. The text must have no carriage returns and no invisible
 * characters, since characters are not checked. `bytes` are the whole file's, if each byte is one character.
 */
export function readPlain(chunk: Chunk, bytes: Uint8Array | null, limits: YamlLimits): Plain | Refused | null {
  const state = beginning(chunk.text, slicer(chunk, bytes), limits, null);
  const read = readFrom(state);
  if (read !== null || !state.isFaulty) return read;
  // A second pass only for a faulty document, since recording offsets is slower.
  return readFrom(beginning(chunk.text, slicer(chunk, bytes), limits, []));
}

/**
 * The field offsets of a document that `readPlain` can read, counted from the start of the file; null for any other.
 */
export function offsetsOfPlain(chunk: Chunk, limits: YamlLimits): FieldOffsets | null {
  const located = readLocated(chunk, limits);
  return located && moved(located.fieldOffsets, chunk.offset);
}

/** The respellings of a document that `readPlain` can read; none for any other. */
export function respellingsOfPlain(chunk: Chunk, limits: YamlLimits): readonly Respelling[] {
  const located = readLocated(chunk, limits);
  return located === null ? [] : respellingsAt(located.respelt, located.fieldOffsets);
}

function readLocated(
  chunk: Chunk,
  limits: YamlLimits,
): (Pick<ParserState, "respelt"> & { readonly fieldOffsets: FieldOffsets }) | null {
  const state = beginning(chunk.text, slicer(chunk, null), limits, []);
  const read = readFrom(state);
  if (read === null || "fault" in read) return null;
  const { inside, respelt } = state;
  return { respelt, fieldOffsets: { key: read.offset, value: read.offset, inside } };
}

function moved(fieldOffsets: FieldOffsets, by: number): FieldOffsets {
  if (by === 0) return fieldOffsets;
  const { key, value, inside } = fieldOffsets;
  const within = inside === null ? null : new Map(Array.from(inside, ([name, each]) => [name, moved(each, by)]));
  return { key: key + by, value: value + by, inside: within };
}

function readFrom(state: ParserState): Plain | Refused | null {
  const { text } = state;
  if (text.startsWith("---") && !toNextLine(state, 3)) return null;
  if (state.at === 0) toContent(state, 0);
  const offset = state.at;
  const value = readRoot(state);
  // The limit applies whatever follows: the text read up to here was plain.
  const faults = state.faults ?? [];
  if (state.nodes > state.limits.nodes && faults.length === 0)
    return { fault: tooManyNodes(state.limits.nodes, offset) };
  if (value === undefined || !isAtEnd(state)) return null;
  const { hasCredentials, isRespelt } = state;
  return { value, offset, hasCredentials, faults, isRespelt };
}

function readRoot(state: ParserState): Json | undefined {
  const { text, at, column } = state;
  const code = text.charCodeAt(at);
  if (code === OPENING_BRACKET || code === OPENING_BRACE) return readInLine(state, at, -1, 0);
  return column === 0 ? readNode(state, noKeys, 1) : undefined;
}

function beginning(text: string, slice: Slice, limits: YamlLimits, places: FieldOffsets[] | null): ParserState {
  const position = { open: 0, at: 0, column: 0, nodes: 1, margin: -1, start: -1 };
  const mayHaveConnections = mayHaveConnectionSecret(text);
  const found = {
    hasCredentials: false,
    mayHaveConnections,
    faults: places === null ? null : [],
    isFaulty: false,
    isRespelt: false,
  };
  return { text, limits, slice, values: [], ...position, ...found, places, inside: null, respelt: [] };
}

function isAtEnd({ column }: ParserState): boolean {
  return column < 0;
}

// If the line has no more content, moves to the next line that has.
function toNextLine(state: ParserState, from: number): boolean {
  const { text } = state;
  const isOver = text.charCodeAt(from) === LINE_FEED;
  if (!isOver && !isRest(text, from)) return false;
  toContent(state, isOver ? from + 1 : endOfLine(text, from) + 1);
  return true;
}

// Moves from the start of a line to the first content.
function toContent(state: ParserState, from: number): void {
  const { text } = state;
  let start = from;
  while (start < text.length) {
    const at = afterSpaces(text, start);
    const code = text.charCodeAt(at);
    if (code !== LINE_FEED && code !== HASH && at < text.length) {
      state.at = at;
      state.column = at - start;
      return;
    }
    start = endOfLine(text, at) + 1;
  }
  state.at = text.length;
  state.column = -1;
}

function readNode(state: ParserState, above: MappingShape, depth: number): Json | undefined {
  return isItem(state.text, state.at) ? readList(state, above, depth) : readMapping(state, above, depth);
}

function readMapping(state: ParserState, above: MappingShape, depth: number): Json | undefined {
  const { column, open: from, at: start } = state;
  if (depth > state.limits.depth) return undefined;
  let shape = noKeys;
  do {
    const keyAt = state.at;
    const next = readKey(state, shape, above);
    if (next === null || next.size > state.limits.keys) return undefined;
    shape = next;
    const value = readField(state, column, shape, depth);
    if (value === undefined || !addValue(state, value, 2, keyAt)) return undefined;
    noteDuplicateKey(state, from, shape);
  } while (state.column === column);
  if (state.column > column) return undefined;
  noteInside(state, from, start, shape);
  state.open = from;
  return mappingOf(state, shape, from);
}

// The previous successor usually follows again; then the key is known without copying it.
function readKey(state: ParserState, shape: MappingShape, above: MappingShape): MappingShape | null {
  const { text, at } = state;
  const guess = shape === noKeys ? above.inside : shape.guess;
  if (guess === null || !text.startsWith(guess.key, at)) return readOtherKey(state, shape, above);
  const end = at + guess.key.length;
  if (text.charCodeAt(end) !== COLON || !isGap(text, end + 1)) return readOtherKey(state, shape, above);
  state.at = end + 1;
  return guess;
}

function readOtherKey(state: ParserState, shape: MappingShape, above: MappingShape): MappingShape | null {
  const { text } = state;
  const key = readKeyAt(state, state.at, endOfKey);
  if (key === null || text.charCodeAt(key.end) !== COLON || !isGap(text, key.end + 1)) return null;
  const next = withKey(shape, key.word);
  state.at = key.end + 1;
  if (!key.isBare) return next;
  if (shape === noKeys) above.inside = next;
  else shape.guess = next;
  return next;
}

function readField(state: ParserState, column: number, key: MappingShape, depth: number): Json | undefined {
  const { text } = state;
  const at = afterSpaces(text, state.at);
  const isInLine = !isRest(text, state.at);
  if (!isInLine) toContent(state, endOfLine(text, at) + 1);
  const value = isInLine ? readInLine(state, at, column, depth) : readBelow(state, column, key, depth);
  // A value that continues below its key has the key's offset.
  const first = text.charCodeAt(at);
  if (!isInLine || first === BAR || first === GREATER) state.start = -1;
  return value;
}

function readBelow(state: ParserState, column: number, key: MappingShape, depth: number): Json | undefined {
  if (state.column > column) return readNode(state, key, depth + 1);
  // A list may have the same indentation as its key.
  const isList = state.column === column && isItem(state.text, state.at);
  return isList ? readList(state, key, depth + 1) : null;
}

function readList(state: ParserState, above: MappingShape, depth: number): Json | undefined {
  const { text, column, open: from, at: start } = state;
  if (depth > state.limits.depth) return undefined;
  do {
    const item = readItem(state, column, above, depth);
    if (item === undefined || !addValue(state, item, 1, start)) return undefined;
  } while (state.column === column && isItem(text, state.at));
  return state.column > column ? undefined : listOf(state, from, start);
}

function readItem(state: ParserState, column: number, above: MappingShape, depth: number): Json | undefined {
  const { text } = state;
  const from = state.at + 1;
  const at = afterSpaces(text, from);
  if (isRest(text, from)) {
    toContent(state, endOfLine(text, at) + 1);
    state.start = -1;
    return state.column > column ? readNode(state, above, depth + 1) : null;
  }
  if (!isItem(text, at) && !isKey(state, at)) return readInLine(state, at, column, depth);
  // A collection that starts on the line of its dash is indented to its first character.
  state.column = column + at - state.at;
  state.at = at;
  return readNode(state, above, depth + 1);
}

function isKey(state: ParserState, at: number): boolean {
  const { text } = state;
  const code = text.charCodeAt(at);
  if (code !== QUOTE && code !== APOSTROPHE) return endOfKey(text, at) >= 0;
  const quoted = readQuoted(state, at);
  return quoted !== null && text.charCodeAt(quoted.end) === COLON;
}

function readInLine(state: ParserState, at: number, column: number, depth: number): Json | undefined {
  const value = readScalarOrBrackets(state, at, column, depth);
  state.start = at;
  return value;
}

function readScalarOrBrackets(state: ParserState, at: number, column: number, depth: number): Json | undefined {
  const { text } = state;
  switch (text.charCodeAt(at)) {
    case QUOTE:
    case APOSTROPHE: {
      const quoted = readQuoted(state, at);
      return quoted !== null && toNextLine(state, quoted.end) ? checkedText(state, quoted.word) : undefined;
    }
    case OPENING_BRACKET:
    case OPENING_BRACE: {
      state.at = at;
      state.margin = column;
      const value = readBrackets(state, depth + 1);
      return toNextLine(state, state.at) ? value : undefined;
    }
    case BAR:
    case GREATER: {
      state.at = at;
      const block = readBlock(state, column);
      if (block !== undefined) toContent(state, state.at);
      return block;
    }
    default: {
      const end = endOfValue(text, at);
      if (end < 0 || !toNextLine(state, end)) return undefined;
      return state.column > column ? readFolded(state, at, end, column) : scalarAt(state, at, end);
    }
  }
}

// An unquoted text over several lines, without blank lines or comments between them.
function readFolded(state: ParserState, from: number, firstEnd: number, column: number): string | undefined {
  const { text, slice } = state;
  const parts = [slice(from, firstEnd)];
  let end = firstEnd;
  do {
    const line = endOfLine(text, end);
    const { at } = state;
    if (afterSpaces(text, end) !== line || at - state.column !== line + 1) return undefined;
    end = endOfValue(text, at);
    if (end < 0 || !toNextLine(state, end)) return undefined;
    parts.push(slice(at, end));
  } while (state.column > column);
  return checkedText(state, parts.join(" "));
}
