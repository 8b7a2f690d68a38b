import type { Chunk } from "../split.ts";

/** Cuts a part out of a document's text. */
export type Cut = (from: number, end: number) => string;

// V8 copies what is shorter, and makes anything else a view of the whole, which then lives as long as its smallest part.
const SHORTEST_VIEW = 13;

/** Cuts parts out of a document that keep nothing of the rest; `bytes` are those of its file where each is a character. */
export function cutter({ text, offset }: Chunk, bytes: Uint8Array | null): Cut {
  if (bytes === null) return (from, end) => text.slice(from, end);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (from, end) =>
    end - from < SHORTEST_VIEW ? text.slice(from, end) : whole.toString("latin1", offset + from, offset + end);
}
