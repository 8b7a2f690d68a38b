import type { Buffer } from "node:buffer";

/** Lets go of bytes that nobody looks at again: until the next collection of garbage megabytes of them would pile up. */
export function releaseBuffer({ buffer, byteLength }: Buffer): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
