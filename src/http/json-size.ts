const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The size of a JSON text, measured before it is parsed. */
type JsonSize = {
  /** How deep objects and lists are nested. */
  readonly depth: number;
  /** The number of `key: value` pairs. */
  readonly pairs: number;
  /** An upper bound of the number of values, nested ones included; counting ends beyond `maxValues`. */
  readonly values: number;
};

/** Measures a JSON text, valid or not, up to `maxValues` values. */
export function measureJson(text: string, maxValues = Number.POSITIVE_INFINITY): JsonSize {
  let [depth, deepest, pairs, values] = [0, 0, 0, 0];
  for (let at = 0; at < text.length && values <= maxValues; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        pairs += 1;
        break;
      case COMMA:
        values += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
  }
  return { depth: deepest, pairs, values };
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
