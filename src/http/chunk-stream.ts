import { Readable } from "node:stream";

/** A stream of chunks that are all there already: the next one goes out when the one before has gone. */
export function chunkStream(pieces: readonly Buffer[]): Readable {
  const left = pieces.values();
  return new Readable({
    objectMode: true,
    highWaterMark: 1,
    read() {
      this.push(left.next().value ?? null);
    },
  });
}
