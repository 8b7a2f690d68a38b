// src/yaml/fast: the reader of what manifests usually are. See docs/manifests.md#two-parsers.

/** The character codes of plain YAML syntax. */
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

/** The offset of the first non-space character at or after `from`. */
export function afterSpaces(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}

/** The end of a line: the offset of its line feed, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end;
}

/** Whether the character at an offset is a space, a line feed or the end of the text. */
export function isGap(text: string, at: number): boolean {
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  return code === SPACE || code === LINE_FEED;
}

/** Whether a list item starts at an offset. */
export function isItem(text: string, at: number): boolean {
  return text.charCodeAt(at) === DASH && isGap(text, at + 1);
}

/** Whether the rest of a line has only spaces or a comment. */
export function isRest(text: string, from: number): boolean {
  const at = afterSpaces(text, from);
  if (at >= text.length) return true;
  const code = text.charCodeAt(at);
  return code === LINE_FEED || (code === HASH && text.charCodeAt(at - 1) === SPACE);
}

// The ASCII characters that can only start an unquoted scalar.
const BEGINNINGS = tableOf(/[\w./$()+;=^~\\<]/);
const BRACKETS = tableOf(/[[\]{},]/);

function tableOf(pattern: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => Number(pattern.test(String.fromCharCode(code))));
}

function begins(code: number): boolean {
  return code > 0x7f || BEGINNINGS[code] === 1;
}

/** Whether an unquoted scalar certainly starts at an offset. */
function mayBegin(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  // `...` and `---` end a document, in this parser or in others.
  if (code === DOT) return !text.startsWith("...", at);
  if (begins(code)) return true;
  return code === DASH && !text.startsWith("---", at) && (begins(text.charCodeAt(at + 1)) || isOption(text, at));
}

function isOption(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) === DASH && begins(text.charCodeAt(at + 2));
}

/** The end of an unquoted value that takes the rest of its line; -1 if it is not certainly one. */
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

/** The end of an unquoted key, which is the offset of its colon; -1 if it is not certainly one. */
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

/**
 * The end of an unquoted scalar in brackets: a bracket, comma, line end, or colon with a gap; -1 if not certainly one.
 */
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
