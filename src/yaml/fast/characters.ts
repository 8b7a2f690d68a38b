/** The characters that plain YAML is made with, by their codes. */
export const TAB = 0x09;
export const SPACE = 0x20;
export const LINE_FEED = 0x0a;
export const QUOTE = 0x22;
export const HASH = 0x23;
export const APOSTROPHE = 0x27;
export const PLUS = 0x2b;
export const COMMA = 0x2c;
export const DASH = 0x2d;
const DOT = 0x2e;
export const COLON = 0x3a;
export const GREATER = 0x3e;
export const OPENING_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSING_BRACKET = 0x5d;
export const OPENING_BRACE = 0x7b;
export const BAR = 0x7c;
export const CLOSING_BRACE = 0x7d;

/** Where the spaces end that stand at a place. */
export function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

/** Where a line ends: its line feed, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Whether a space, a line's end or the text's end stands at a place. */
export function isGap(text: string, at: number): boolean {
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  return code === SPACE || code === LINE_FEED;
}

/** Whether an item of a list begins at a place. */
export function isItem(text: string, at: number): boolean {
  return text.charCodeAt(at) === DASH && isGap(text, at + 1);
}

/** Whether a line holds nothing more from a place on but spaces or a comment. */
export function isRest(text: string, from: number): boolean {
  const at = afterSpaces(text, from);
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  return code === LINE_FEED || (code === HASH && text.charCodeAt(at - 1) === SPACE);
}

// What begins an unquoted scalar and nothing else, among ASCII.
const BEGINNINGS = tableOf(/[\w./$()+;=^~\\<]/);
const BRACKETS = tableOf(/[[\]{},]/);

function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))));
}

function begins(code: number): boolean {
  return code > 0x7f || BEGINNINGS[code] === 1;
}

/** Whether an unquoted scalar begins at a place, for sure. */
function mayBegin(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // Three of either end a document, here or for somebody.
  if (code === DOT) return !text.startsWith("...", at);
  if (begins(code)) return true;
  return code === DASH && !text.startsWith("---", at) && (begins(text.charCodeAt(at + 1)) || isOption(text, at));
}

function isOption(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) === DASH && begins(text.charCodeAt(at + 2));
}

/** Where an unquoted value ends that has the rest of its line to itself; -1 where it is not surely one. */
export function endOfValue(text: string, from: number): number {
  if (!mayBegin(text, from)) return -1;
  let end = from;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === SPACE) continue;
    if (code === LINE_FEED) break;
    if (code === HASH && at > end) break;
    if (code === TAB || (code === COLON && isGap(text, at + 1))) return -1;
    end = at + 1;
  }
  return end;
}

/** Where an unquoted key ends, which is where its colon stands; -1 where it is not surely one. */
export function endOfKey(text: string, from: number): number {
  if (!mayBegin(text, from)) return -1;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === LINE_FEED || code === TAB) return -1;
    if (code === SPACE && isGapOrMark(text.charCodeAt(at + 1))) return -1;
    if (code === COLON && isGap(text, at + 1)) return at;
  }
  return -1;
}

function isGapOrMark(code: number): boolean {
  return code === SPACE || code === HASH || code === COLON;
}

/** Where an unquoted scalar between brackets ends: at a bracket, a comma, its line's end, or a colon with a gap; -1 as above. */
export function endBetween(text: string, from: number): number {
  if (!mayBegin(text, from)) return -1;
  let end = from;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === SPACE) continue;
    if (code === TAB) return -1;
    if (code === LINE_FEED || (code === HASH && at > end)) return end;
    if (code < 0x80 && BRACKETS[code] === 1) return end;
    if (code === COLON) {
      const next = text.charCodeAt(at + 1);
      if (next === SPACE || next === LINE_FEED) return end;
      if (!begins(next)) return -1;
    }
    end = at + 1;
  }
  return -1;
}
