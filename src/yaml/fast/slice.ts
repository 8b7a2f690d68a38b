import type { Chunk } from "../split-documents.ts";

/** Copies a part of a document's text. */
export type Slice = (from: number, end: number) => string;

/**
 * Copies parts of a document without keeping the rest in memory. `bytes` are the file's, if each byte is one character.
 */
export function slicer({ text, offset }: Chunk, bytes: Uint8Array | null): Slice {
  const copy = bytes === null ? fromText(text) : fromBytes(text, bytes, offset);
  return (from, end) => (end - from > MAX_INTERNED_LENGTH ? copy(from, end) : internedAt(text, from, end, copy));
}

// V8 copies shorter substrings. A longer one is a view of the whole text, which then lives as long as the substring.
const SHORTEST_VIEW = 13;

function fromBytes(text: string, bytes: Uint8Array, offset: number): Slice {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (from, end) =>
    end - from < SHORTEST_VIEW ? text.slice(from, end) : whole.toString("latin1", offset + from, offset + end);
}

// Slicing a concatenation forces V8 to create a new string.
function fromText(text: string): Slice {
  return (from, end) => ` ${text.slice(from, end)}`.slice(1);
}

// The same words recur in manifests, so each is stored once.
const SLOTS = 4096;
const MAX_INTERNED_LENGTH = 80;
const interned: string[] = Array.from({ length: SLOTS }, () => "");

function internedAt(text: string, from: number, end: number, copy: Slice): string {
  const slot = slotOf(text, from, end);
  const known = interned[slot] ?? "";
  if (known.length === end - from && text.startsWith(known, from)) return known;
  const word = copy(from, end);
  interned[slot] = word;
  return word;
}

// A collision only replaces the stored word.
function slotOf(text: string, from: number, end: number): number {
  const middle = (from + end) >> 1;
  const ends = text.charCodeAt(from) * 31 * 31 + text.charCodeAt(end - 1) * 7;
  return (ends + text.charCodeAt(middle) * 31 + (end - from) * 131) & (SLOTS - 1);
}
