/** The offsets of the last open bracket and of the open quote at an offset in a text; null when there is none. */
export type Unclosed = { readonly bracket: number | null; readonly quote: number | null };

// The start of a block scalar, whose content opens nothing.
const BLOCK = /(?:^|[:\-?])\s+[|>][-+\d]*\s*(?:\s#.*)?$/;
const STARTS = new Set(["", ":", "-", ",", "[", "{", "?"]);

/** Finds the bracket and the quote that are most likely unclosed; a rough scan, for the hint in a message. */
export function findUnclosed(text: string, end: number): Unclosed {
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
