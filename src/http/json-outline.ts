const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** How deep the brackets of a JSON text nest, and how many `key: value` it writes; the text need not be valid. */
export function outline(text: string): { readonly depth: number; readonly pairs: number } {
  let [depth, deepest, pairs] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COLON:
        pairs += 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
    }
  }
  return { depth: deepest, pairs };
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
