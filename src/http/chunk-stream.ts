import { Readable } from "node:stream";

/** A stream of buffers that are in memory already; each is pushed when the one before has been read. */
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
