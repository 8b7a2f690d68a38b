import { Buffer } from "node:buffer";

/** The size of a JSON text, measured before it is parsed. */
type JsonSize = {
  /** The nesting depth of objects and lists. */
  readonly depth: number;
  /** The number of `key: value` pairs. */
  readonly pairs: number;
  /** An upper bound of the number of values, nested ones included. */
  readonly values: number;
  /** The offset after the first list or object; -1 if it does not end, or a limit is exceeded before. */
  readonly end: number;
};
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE, COMMA, COLON] = Buffer.from('"\\[]{},:');

/** Measures a JSON text, valid or not, up to the end of its first list or object, or until a limit is exceeded. */
export function measureJson(
  bytes: Buffer,
  {
    maxDepth = Infinity,
    maxValues = Infinity,
    from = 0,
  }: { readonly maxDepth?: number; readonly maxValues?: number; readonly from?: number } = {},
): JsonSize {
  let [depth, deepest, pairs, values] = [0, 0, 0, 0];
  for (let at = from; at < bytes.length && deepest <= maxDepth && values <= maxValues; at += 1) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else if (byte === COLON) pairs += 1;
    else if (byte === OPEN || byte === OPEN_LIST) {
      values += 1;
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (byte === CLOSE || byte === CLOSE_LIST) {
      depth -= 1;
      if (depth === 0) return { depth: deepest, pairs, values, end: at + 1 };
    }
  }
  return { depth: deepest, pairs, values, end: -1 };
}

/** Whether more than `maxDepth` objects and lists are nested in each other. */
export function isTooDeep(bytes: Buffer, maxDepth: number): boolean {
  return measureJson(bytes, { maxDepth }).depth > maxDepth;
}

/** The offset of the closing quote of a string whose content starts at `from`. */
export function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
