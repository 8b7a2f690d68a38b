import type { ErrorCode } from "yaml";

/** The most likely mistake behind a parser error. */
export type Mistake = { readonly offset: number; readonly summary: string; readonly detail: string | null };

/** A parser's error. Its message has more information than its code, but it quotes the text, so it is never shown. */
export type ParserError = { readonly code: ErrorCode; readonly message: string; readonly offset: number };

/** The most likely mistake behind a parser's error. */
export function likelyMistake(error: ParserError, text: string): Mistake {
  const { code, offset } = error;
  const line = lineAt(text, offset);
  const found =
    template(line) ??
    unclosed(error, text) ??
    (code === "MULTILINE_IMPLICIT_KEY" || code === "BLOCK_AS_IMPLICIT_KEY" ? misplaced(error, line, text) : null) ??
    (code === "UNEXPECTED_TOKEN" || code === "MISSING_CHAR" ? surplus(error, line, text) : null);
  if (found !== null) return found;
  const [summary, detail] = REASONS[code] ?? ["a syntax error", null];
  return { offset: code === "BAD_INDENT" ? Math.max(offset, line.start + line.indent) : offset, summary, detail };
}

/** The message for a line with `{{`. */
export const TEMPLATE: { readonly summary: string; readonly detail: string } = templateOf("{{ … }}");

function templateOf(form: string) {
  const detail = 'Manifests are plain YAML: render templates first. If it belongs to a text, put the text in "quotes".';
  return { summary: `a template (\`${form}\`)`, detail };
}

/** Whether a fault is a statement of a template, which is never YAML; the lines after it mean nothing by themselves. */
export function isTemplateFault({ summary }: { readonly summary: string }): boolean {
  return Object.values(BLOCKS).some((block) => summary.endsWith(block.summary));
}

type Line = { readonly start: number; readonly text: string; readonly indent: number };

function lineAt(text: string, offset: number): Line {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  return { start, text: line, indent: line.length - line.trimStart().length };
}

// As Jinja writes statements and comments.
const BLOCKS: { readonly [opening: string]: typeof TEMPLATE } = {
  "{%": templateOf("{% … %}"),
  "{#": templateOf("{# … #}"),
};

function template({ start, text }: Line): Mistake | null {
  const found = /\{\{|\{%|^\s*\{#/.exec(text);
  if (found === null) return null;
  const opening = found[0].trim();
  return { offset: start + found.index + found[0].length - opening.length, ...(BLOCKS[opening] ?? TEMPLATE) };
}

// The parser reports it at the end of the text or at the next token; the mistake is at the opening character.
function unclosed({ message, offset }: ParserError, text: string): Mistake | null {
  const [, closing] = /end with a ([\]}])$/.exec(message) ?? [];
  if (closing !== undefined) {
    const at = findUnclosed(text, offset).bracket ?? offset;
    const open = closing === "]" ? "[" : "{";
    const detail = `Close it with \`${closing}\`; lines inside are indented.`;
    return { offset: at, summary: `a \`${open}\` that is never closed`, detail };
  }
  if (!message.startsWith("Missing closing")) return null;
  const at = findUnclosed(text, offset).quote ?? offset;
  return { offset: at, summary: "a quote that is never closed", detail: "Close it at the end of the text." };
}

function misplaced({ message, offset }: ParserError, line: Line, text: string): Mistake | null {
  const next = lineAt(text, Math.min(text.length, line.start + line.text.length + 1));
  const isField = /^\s+[^\s#][^:]*:(?:\s|$)/.test(next.text);
  if (isField && next.indent > line.indent && offset > line.start + line.indent) {
    const summary = "a line that is indented too far";
    return {
      offset: next.start + next.indent,
      summary,
      detail: "The line above already has a value: indent both lines equally.",
    };
  }
  const rest = text.slice(offset, line.start + line.text.length);
  const [glued] = /^["']?[\w./-]+["']?:(?=\S)/.exec(rest) ?? [];
  if (glued !== undefined && message.startsWith("Implicit keys")) {
    return { offset: offset + glued.length, summary: "no space after a `:`", detail: "Write `key: value`." };
  }
  const second = rest.search(/:(?:\s|$)/);
  if (message.startsWith("Nested mappings") && second > 0) {
    return { offset: offset + second, summary: "a second `: ` in one line", detail: QUOTE_IT };
  }
  return message.startsWith("Implicit keys") && second < 0 ? { offset, ...NO_COLON } : null;
}

const QUOTE_IT = 'If it belongs to a text, put the text in "quotes".';
const NO_COLON = {
  summary: "a line without a `:`",
  detail: "Write `key: value`. If the line goes on with the text above, indent it further.",
};

function surplus({ message, offset }: ParserError, line: Line, text: string): Mistake | null {
  const isFirst = offset <= line.start + line.indent;
  const isAtEnd = message.endsWith("at node end");
  if (message.startsWith("Missing , between") || (isAtEnd && findUnclosed(text, offset).bracket !== null)) {
    return { offset, summary: "no comma between two items", detail: "Inside brackets items are separated by commas." };
  }
  if (isAtEnd) {
    return isFirst
      ? { offset, summary: "a line that belongs to nothing above", detail: "Is it indented as its neighbours are?" }
      : {
          offset,
          summary: "more after the end of a value",
          detail: "Put all of it into one pair of quotes, or remove it.",
        };
  }
  if (message.includes("block-seq-ind on same line")) {
    return { offset, summary: "a list in the line of its key", detail: "Begin each item on a line of its own." };
  }
  if (/^Unexpected flow-(?:map|seq)-end/.test(message)) {
    return { offset, summary: "a closing bracket without its opening one", detail: "Remove it, or open it." };
  }
  return message.startsWith("Implicit map keys") && isFirst ? { offset, ...NO_COLON } : null;
}

/** The message for each parser code, when nothing more specific is found. */
const REASONS: { readonly [code in ErrorCode]?: readonly [summary: string, detail: string | null] } = {
  ALIAS_PROPS: ["an alias with a tag or anchor of its own", "An alias (`*name`) stands alone."],
  BAD_ALIAS: ["an anchor or alias without a name", QUOTE_IT],
  BAD_DIRECTIVE: ["a YAML directive", "Remove the line that starts with `%`."],
  BAD_DQ_ESCAPE: ["an unknown escape in a double-quoted text", "Use 'single quotes', or double the backslash."],
  BAD_INDENT: ["an indentation that matches no line above", "Indent with the same number of spaces as its neighbours."],
  BAD_PROP_ORDER: ["a tag or anchor in the wrong place", "It stands directly before its value."],
  BAD_SCALAR_START: ["a text that begins with a reserved YAML character", 'Put the text in "quotes".'],
  BLOCK_AS_IMPLICIT_KEY: ["a mapping inside a line", `Is there one \`:\` too many on the line? ${QUOTE_IT}`],
  BLOCK_IN_FLOW: ["an indented block inside brackets", "Inside `[…]` and `{…}` write `[…]` and `{…}`."],
  KEY_OVER_1024_CHARS: ["a key of more than 1,024 characters", null],
  MISSING_CHAR: [
    "a missing character: a quote, bracket, comma, colon or space",
    "Is a quote or bracket left open, or a space missing after `:` or `-`?",
  ],
  MULTILINE_IMPLICIT_KEY: ["a key over several lines", "Is a quote left open, or a `:` missing?"],
  MULTIPLE_ANCHORS: ["two anchors on one value", null],
  MULTIPLE_TAGS: ["two tags on one value", null],
  TAB_AS_INDENT: ["a tab where the indentation is", "Indent with spaces."],
  TAG_RESOLVE_FAILED: ["a tag that manifests do not support", null],
  UNEXPECTED_TOKEN: ["something that does not belong here", QUOTE_IT],
};

/** The offsets of the last open bracket and of the open quote at an offset in a text; null when there is none. */
type Unclosed = { readonly bracket: number | null; readonly quote: number | null };

// The start of a block scalar, whose content opens nothing.
const BLOCK = /(?:^|[:\-?])\s+[|>][-+\d]*\s*(?:\s#.*)?$/;
const STARTS = new Set(["", ":", "-", ",", "[", "{", "?"]);

/** Finds the bracket and the quote that are most likely unclosed; a rough scan, for the hint in a message. */
function findUnclosed(text: string, end: number): Unclosed {
  const state: State = { brackets: [], quote: null };
  let block = -1;
  for (let start = 0; start < end; ) {
    const next = text.indexOf("\n", start) + 1 || text.length + 1;
    const line = text.slice(start, Math.min(next - 1, end));
    const indent = line.search(/\S/);
    if (indent >= 0 && indent <= block) block = -1;
    if (block < 0) {
      read(state, line, start);
      if (state.quote === null && state.brackets.length === 0 && BLOCK.test(line)) block = indent;
    }
    start = next;
  }
  return { bracket: state.brackets.at(-1) ?? null, quote: state.quote?.at ?? null };
}

type State = { readonly brackets: number[]; quote: { readonly at: number; readonly mark: string } | null };

function read(state: State, line: string, start: number): void {
  let before = "";
  for (let index = 0; index < line.length; index++) {
    const character = line[index] ?? "";
    if (state.quote !== null) {
      const isEscape = state.quote.mark === '"' ? character === "\\" : line.startsWith("''", index);
      if (isEscape) index++;
      else if (character === state.quote.mark) state.quote = null;
    } else if (character === "#" && (index === 0 || /\s/.test(line[index - 1] ?? ""))) return;
    else mark(state, character, start + index, STARTS.has(before));
    if (/\S/.test(character)) before = character;
  }
}

function mark(state: State, character: string, at: number, isStart: boolean): void {
  if ((character === '"' || character === "'") && isStart) state.quote = { at, mark: character };
  else if ((character === "[" || character === "{") && (isStart || state.brackets.length > 0)) state.brackets.push(at);
  else if (character === "]" || character === "}") state.brackets.pop();
}
