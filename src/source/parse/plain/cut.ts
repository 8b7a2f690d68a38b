import type { Chunk } from "../split.ts";

/** Cuts a part out of a document's text. */
export type Cut = (from: number, end: number) => string;

// V8 copies what is shorter, and makes anything else a view of the whole, which then lives as long as its smallest part.
const SHORTEST_VIEW = 13;

/** Cuts parts out of a document that keep nothing of the rest; `bytes` are those of its file where each is a character. */
export function cutter({ text, offset }: Chunk, bytes: Uint8Array | null): Cut {
  if (bytes === null) return (from, end) => text.slice(from, end);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (from, end) => {
    const place = placeOf(text, from, end);
    const known = lately[place] ?? "";
    if (known.length === end - from && text.startsWith(known, from)) return known;
    const part =
      end - from < SHORTEST_VIEW ? text.slice(from, end) : whole.toString("latin1", offset + from, offset + end);
    lately[place] = part;
    return part;
  };
}

// What was cut out lately: in manifests the same words come again and again, and need to be there only once.
const PLACES = 4096;
const lately: string[] = Array.from({ length: PLACES }, () => "");

function placeOf(text: string, from: number, end: number): number {
  const middle = (from + end) >> 1;
  const mixed =
    (text.charCodeAt(from) * 31 + text.charCodeAt(middle)) * 31 + text.charCodeAt(end - 1) * 7 + (end - from) * 131;
  return mixed & (PLACES - 1);
}
