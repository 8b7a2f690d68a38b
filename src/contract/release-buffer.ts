import type { Buffer } from "node:buffer";

/** Frees the memory of a buffer that is not used again, without waiting for the garbage collector. */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
