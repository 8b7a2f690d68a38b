import { Buffer } from "node:buffer";

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = Buffer.from('"\\[]{}');

/** Whether more than so many lists and objects stand inside each other, as a look at brackets alone tells. */
export function isTooDeep(bytes: Buffer, maxDepth: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === CLOSE || byte === CLOSE_LIST) depth -= 1;
  }
  return false;
}

/**
 * Where the list or object that starts here ends; -1 where it does not end, or where more than so many stand inside
 * each other.
 */
export function endOfNest(bytes: Buffer, start: number, maxDepth: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === OPEN || byte === OPEN_LIST) {
      depth += 1;
      if (depth > maxDepth) return -1;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** Where the quote stands that ends the string whose inside starts here. */
export function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
