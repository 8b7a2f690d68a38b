import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";

const RANDOM_BYTES = 8;
// Random bytes are cheaper in large blocks.
const PAGE = 512 * RANDOM_BYTES;

/**
 * Creates ids that grow with time (UUID version 7), each greater than the one before: lists with equal times keep the
 * order of creation.
 */
export function createIdGenerator(clock: Clock, { bytes }: Random): () => string {
  let last = 0n;
  const random = randomPages(bytes);
  return () => {
    // 48 bits of milliseconds, then a 12-bit counter (RFC 9562, 6.2, method 1).
    const wanted = BigInt(clock.now()) << 12n;
    last = wanted > last ? wanted : last + 1n;
    return format(last, random());
  };
}

/** The beginning of all ids that are created at a moment: those created before it are less, all others are greater. */
export function idPrefixAt(moment: number): string {
  const time = Math.max(0, moment).toString(16).padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

function randomPages(bytes: Random["bytes"]): () => Buffer {
  let page: Buffer = Buffer.alloc(0);
  let at = PAGE;
  return () => {
    if (at === PAGE) {
      page = bytes(PAGE);
      at = 0;
    }
    at += RANDOM_BYTES;
    return page.subarray(at - RANDOM_BYTES, at);
  };
}

function format(moment: bigint, random: Buffer): string {
  const time = (moment >> 12n).toString(16).padStart(12, "0");
  const count = (moment & 0xfffn).toString(16).padStart(3, "0");
  const variant = ((random[0] ?? 0) & 0x3f) | 0x80;
  const tail = variant.toString(16).padStart(2, "0") + random.subarray(1).toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}
