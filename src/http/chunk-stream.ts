import { Readable } from "node:stream";

/** A stream of buffers that are already in memory; each is pushed when the previous one has been read. */
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
