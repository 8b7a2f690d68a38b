import { resolvePlain } from "../plain-scalar.ts";
import { APOSTROPHE, QUOTE } from "./characters.ts";
import type { ParserState } from "./parser-state.ts";
import { type Quoted, readQuoted } from "./scalar.ts";

/** A key, its end, and whether it needs no quotes. */
export type Key = Quoted & { readonly isBare: boolean };

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
