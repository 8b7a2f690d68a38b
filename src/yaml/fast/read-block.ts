import { afterSpaces, BAR, DASH, endOfLine, HASH, isRest, LINE_FEED, PLUS, SPACE } from "./characters.ts";
import { checkedText, type ParserState } from "./parser-state.ts";
import type { Slice } from "./slice.ts";

/**
 * Reads a block scalar (`|` or `>`) under a parent at a column and moves to the line after it; undefined when its
 * indentation is explicit, or ambiguous.
 */
export function readBlock(state: ParserState, column: number): string | undefined {
  const { text, slice } = state;
  const isLiteral = text.charCodeAt(state.at) === BAR;
  const chomping = text.charCodeAt(state.at + 1);
  const header = state.at + (chomping === DASH || chomping === PLUS ? 2 : 1);
  const from = endOfLine(text, header) + 1;
  // Parsers disagree on a last line without a line feed.
  if (!isRest(text, header) || from >= text.length || text.charCodeAt(text.length - 1) !== LINE_FEED) return undefined;
  const indent = indentOf(text, from);
  if (indent <= column) return undefined;
  const lines: Lines = { text, slice, at: from, indent, breaks: 0 };
  const joined = isLiteral ? literal(lines) : folded(lines);
  if (joined === undefined || isLooseComment(lines, column)) return undefined;
  state.at = lines.at;
  if (chomping === DASH) return checkedText(state, joined);
  return checkedText(state, joined + (chomping === PLUS ? "\n".repeat(lines.breaks) : "\n"));
}

type Lines = {
  readonly text: string;
  readonly slice: Slice;
  readonly indent: number;
  /** The offset of the next line. */
  at: number;
  /** Line feeds since the last text. */
  breaks: number;
};

// Determined by the first non-empty line; -1 if an earlier line has more spaces, or all are empty.
function indentOf(text: string, from: number): number {
  let widest = 0;
  for (let start = from; start < text.length; ) {
    const at = afterSpaces(text, start);
    if (text.charCodeAt(at) !== LINE_FEED) return at < text.length && at - start >= widest ? at - start : -1;
    widest = Math.max(widest, at - start);
    start = at + 1;
  }
  return -1;
}

/** The next line of the text without its indentation; null after the last, undefined for a line of only spaces. */
function nextLine(lines: Lines): string | null | undefined {
  const { text, slice, indent } = lines;
  while (lines.at < text.length) {
    const at = afterSpaces(text, lines.at);
    const isEmpty = text.charCodeAt(at) === LINE_FEED;
    if (at - lines.at < indent && !isEmpty) return null;
    const start = lines.at + indent;
    if (isEmpty) {
      if (at > start) return undefined;
      lines.breaks++;
      lines.at = at + 1;
      continue;
    }
    const end = endOfLine(text, at);
    lines.at = end + 1;
    return slice(start, end);
  }
  return null;
}

function literal(lines: Lines): string | undefined {
  return join(lines, () => "\n".repeat(lines.breaks));
}

function folded(lines: Lines): string | undefined {
  return join(lines, (line, isFirst) => {
    if (line.charCodeAt(0) === SPACE || line.endsWith(" ") || line.includes("\t")) return undefined;
    if (isFirst) return "\n".repeat(lines.breaks);
    return lines.breaks === 1 ? " " : "\n".repeat(lines.breaks - 1);
  });
}

function join(lines: Lines, before: (line: string, isFirst: boolean) => string | undefined): string | undefined {
  const parts: string[] = [];
  for (let line = nextLine(lines); line !== null; line = nextLine(lines)) {
    const gap = line === undefined ? undefined : before(line, parts.length === 0);
    if (line === undefined || gap === undefined) return undefined;
    parts.push(gap, line);
    lines.breaks = 1;
  }
  // Joined in one call, since V8 stores a concatenated string as its pieces.
  return parts.join("");
}

// A comment that is indented further than the key could be meant as text.
function isLooseComment({ text, at: start }: Lines, column: number): boolean {
  const at = afterSpaces(text, start);
  return text.charCodeAt(at) === HASH && at - start > column;
}
