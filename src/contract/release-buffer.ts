/** Frees the memory of a buffer that is not used again, without waiting for the garbage collector. */
export function releaseBuffer({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
