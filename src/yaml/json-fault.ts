import { type Fault, fault, tooDeep } from "./fault.ts";
import { mergeConflictAt } from "./merge-conflict.ts";

/**
 * The first violation of strict JSON or of the depth limit in a text; null when there is none, or the text is empty.
 */
export function jsonFault(text: string, depth: number): Fault | null {
  const state: State = { text, depth, at: 0 };
  skipSpace(state);
  if (state.at >= text.length) return null;
  return readValue(state, 0) ?? readEnd(state);
}

type State = { readonly text: string; readonly depth: number; at: number };

const SPACE = /[ \t\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings must not contain them unescaped.
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.+-])/y;
const WORD = /(?:true|false|null)(?!\w)/y;

function skipSpace(state: State): void {
  skip(state, SPACE);
}

function skip(state: State, pattern: RegExp): boolean {
  pattern.lastIndex = state.at;
  if (!pattern.test(state.text)) return false;
  state.at = pattern.lastIndex;
  return true;
}

function readEnd(state: State): Fault | null {
  skipSpace(state);
  return state.at < state.text.length ? syntax(state, "more after the end of the value") : null;
}

function readValue(state: State, depth: number): Fault | null {
  skipSpace(state);
  switch (state.text[state.at]) {
    case "{":
      return readItems(state, depth + 1, "}", () => readField(state, depth + 1));
    case "[":
      return readItems(state, depth + 1, "]", () => readValue(state, depth + 1));
    case '"':
      return readString(state);
    default:
      return readWord(state);
  }
}

function readField(state: State, depth: number): Fault | null {
  if (state.text[state.at] !== '"') return syntax(state, "a key in double quotes is expected");
  const found = readString(state);
  if (found !== null) return found;
  skipSpace(state);
  if (state.text[state.at] !== ":") return syntax(state, "a `:` is expected after the key");
  state.at++;
  return readValue(state, depth);
}

function readItems(state: State, depth: number, close: "]" | "}", readItem: () => Fault | null): Fault | null {
  if (depth > state.depth) return tooDeep(state.depth, state.at);
  state.at++;
  skipSpace(state);
  for (let isFirst = true; state.text[state.at] !== close; isFirst = false) {
    if (!isFirst) {
      if (state.text[state.at] !== ",") return syntax(state, `a \`,\` or \`${close}\` is expected`);
      const comma = state.at++;
      skipSpace(state);
      if (state.text[state.at] === close) return syntax({ ...state, at: comma }, `a \`,\` before the \`${close}\``);
    }
    const found = readItem();
    if (found !== null) return found;
    skipSpace(state);
  }
  state.at++;
  return null;
}

function readString(state: State): Fault | null {
  return skip(state, STRING) ? null : syntax(state, "a string that does not end, or with an unknown escape");
}

function readWord(state: State): Fault | null {
  if (skip(state, NUMBER) || skip(state, WORD)) return null;
  return syntax(state, state.at < state.text.length ? "a value is expected" : "the text ends too early");
}

function syntax({ text, at }: State, what: string): Fault {
  const conflict = mergeConflictAt(text, at);
  if (conflict !== null)
    return fault(conflict.offset, "syntax", `not valid JSON: ${conflict.summary}`, conflict.detail);
  const detail = "A `.json` file is strict JSON: no comments, no trailing commas.";
  return fault(at, "syntax", `not valid JSON: ${what}`, detail);
}
