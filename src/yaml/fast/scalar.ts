import type { Json } from "../../contract/json.ts";
import { numberFault, resolvePlain } from "../plain-scalar.ts";
import { APOSTROPHE, BACKSLASH, LINE_FEED, QUOTE, TAB } from "./characters.ts";
import { checkedSpelling, checkedText, noteFault, type ParserState } from "./parser-state.ts";
import type { Slice } from "./slice.ts";

/** The value of an unquoted scalar; undefined when a fault ends the read. */
export function scalarAt(state: ParserState, from: number, end: number): Json | undefined {
  const { text, slice } = state;
  if (isSurelyText(text.charCodeAt(from))) return checkedText(state, slice(from, end));
  const number = smallInteger(text, from, end);
  if (number >= 0) return number;
  const word = slice(from, end);
  const scalar = resolvePlain(word);
  if (scalar.is !== "value") {
    const { is } = scalar;
    return noteFault(state, () => numberFault(is, from)) ? checkedSpelling(state, 0, word, from) : undefined;
  }
  const { value } = scalar;
  return typeof value === "string" ? checkedText(state, word) : checkedSpelling(state, value, word, from);
}

// Numbers and YAML's keywords do not start with any other letter.
function isSurelyText(first: number): boolean {
  const letter = first | 0x20;
  return letter >= 0x61 && letter <= 0x7a && letter !== 0x66 && letter !== 0x6e && letter !== 0x74;
}

const MAX_DIGITS = 9;

// A fast path for most numbers of manifests, non-negative integers; -1 for any other.
function smallInteger(text: string, from: number, end: number): number {
  if (end - from > MAX_DIGITS || (text.charCodeAt(from) === 0x30 && end - from > 1)) return -1;
  let number = 0;
  for (let at = from; at < end; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    number = 10 * number + digit;
  }
  return number;
}

/** A quoted text, and the offset after its closing quote. */
export type Quoted = { readonly word: string; readonly end: number };

/** Reads a quoted text; null if it spans several lines or has an unusual escape. */
export function readQuoted({ text, slice }: ParserState, from: number): Quoted | null {
  return text.charCodeAt(from) === APOSTROPHE ? readSingle(text, slice, from) : readDouble(text, slice, from);
}

function readSingle(text: string, slice: Slice, from: number): Quoted | null {
  let hasQuotes = false;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED) return null;
    if (code !== APOSTROPHE) continue;
    if (text.charCodeAt(at + 1) !== APOSTROPHE) {
      const word = slice(from + 1, at);
      return { word: hasQuotes ? word.replaceAll("''", "'") : word, end: at + 1 };
    }
    hasQuotes = true;
    at++;
  }
  return null;
}

// The escapes that YAML shares with JSON, except `\u`.
const ESCAPES = '"\\/bfnrt';

function readDouble(text: string, slice: Slice, from: number): Quoted | null {
  let hasEscapes = false;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === TAB) return null;
    if (code === QUOTE) {
      const word = hasEscapes ? String(JSON.parse(text.slice(from, at + 1))) : slice(from + 1, at);
      return { word, end: at + 1 };
    }
    if (code !== BACKSLASH) continue;
    if (!ESCAPES.includes(text.charAt(++at))) return null;
    hasEscapes = true;
  }
  return null;
}

/** A key, its end, and whether it needs no quotes. */
type Key = Quoted & { readonly isBare: boolean };

/** YAML allows no longer keys. */
const MAX_KEY_LENGTH = 1000;

const DIGITS = /^\d+$/;

/** Reads the key at an offset; null if it is not certainly a string that can be an ordinary field. */
export function readKeyAt(state: ParserState, from: number, endOf: (text: string, from: number) => number): Key | null {
  const { text } = state;
  const code = text.charCodeAt(from);
  const isBare = code !== QUOTE && code !== APOSTROPHE;
  const key = isBare ? bare(state, from, endOf(text, from)) : quoted(state, from);
  // This name has a special meaning in JavaScript objects.
  if (key === null || key.word.length > MAX_KEY_LENGTH || key.word === "__proto__") return null;
  return { word: key.word, end: key.end, isBare };
}

function bare({ slice }: ParserState, from: number, end: number): Quoted | null {
  if (end < 0) return null;
  const word = slice(from, end);
  const scalar = resolvePlain(word);
  return scalar.is === "value" && typeof scalar.value === "string" && word !== "<<" ? { word, end } : null;
}

// JavaScript objects sort numeric keys first. A key with an escape or a tab is left to the exact reader.
function quoted(state: ParserState, from: number): Quoted | null {
  const key = readQuoted(state, from);
  if (key === null || key.end - from !== key.word.length + 2) return null;
  return key.word.includes("\t") || DIGITS.test(key.word) ? null : key;
}
