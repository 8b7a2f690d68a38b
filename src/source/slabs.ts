import type { Room } from "./open.ts";

// The system gives memory by the page when it is first written to, and takes so large a piece back as soon as it is free;
// what is freed in small pieces a process keeps.
const SLAB_BYTES = 33 * 1024 * 1024;
const FIRST_BYTES = 1024 * 1024;

/** Memory for the content of many small files that are read, and let go of, in the same order. */
export function slabs(): Room {
  let slab = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let used = 0;
  return (length) => {
    if (length > slab.length - used) {
      slab = Buffer.allocUnsafeSlow(Math.max(length, SLAB_BYTES));
      used = 0;
    }
    used += length;
    return slab.subarray(used - length, used);
  };
}
