import type { Chunk } from "../split.ts";

/** Cuts a part out of a document's text. */
export type Cut = (from: number, end: number) => string;

/** Cuts parts out of a document that keep nothing of the rest; `bytes` are those of its file where each is a character. */
export function cutter({ text, offset }: Chunk, bytes: Uint8Array | null): Cut {
  const made = bytes === null ? fromText(text) : fromBytes(text, bytes, offset);
  return (from, end) => (end - from > LONGEST_WORD ? made(from, end) : wordAt(text, from, end, made));
}

// V8 copies what is shorter, and makes anything else a view of the whole, which then lives as long as its smallest part.
const SHORTEST_VIEW = 13;

function fromBytes(text: string, bytes: Uint8Array, offset: number): Cut {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (from, end) =>
    end - from < SHORTEST_VIEW ? text.slice(from, end) : whole.toString("latin1", offset + from, offset + end);
}

// Of two joined texts a new one is made before it is cut.
function fromText(text: string): Cut {
  return (from, end) => ` ${text.slice(from, end)}`.slice(1);
}

// What was cut out lately: in manifests the same words come again and again, and need to be there only once.
const PLACES = 4096;
const LONGEST_WORD = 80;
const lately: string[] = Array.from({ length: PLACES }, () => "");

function wordAt(text: string, from: number, end: number, made: Cut): string {
  const place = placeOf(text, from, end);
  const known = lately[place] ?? "";
  if (known.length === end - from && text.startsWith(known, from)) return known;
  const word = made(from, end);
  lately[place] = word;
  return word;
}

// Words that share a place only drive each other out.
function placeOf(text: string, from: number, end: number): number {
  const middle = (from + end) >> 1;
  const ends = text.charCodeAt(from) * 31 * 31 + text.charCodeAt(end - 1) * 7;
  return (ends + text.charCodeAt(middle) * 31 + (end - from) * 131) & (PLACES - 1);
}
