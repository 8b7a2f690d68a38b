import { CHOMPING_MODE, COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from "js-yaml";
import { type Fault, fault } from "./fault.ts";
import { tooDeep } from "./nesting.ts";
import type { Parsed, ScalarEvent } from "./stream.ts";

/** Reads strict JSON, with a place for every fault and duplicate keys left for the builder to see. */
export function parseJson(text: string, depth: number): Parsed {
  const state: State = {
    text,
    depth,
    at: 0,
    events: [{ type: EVENT_ID.DOCUMENT, explicitStart: false, explicitEnd: false, directives: [] }],
  };
  skipSpace(state);
  if (state.at >= text.length) return { stream: null };
  const found = readValue(state, 0) ?? readEnd(state);
  if (found !== null) return { faults: [found] };
  return {
    stream: {
      events: state.events,
      text: ({ valueStart, valueEnd, style }: ScalarEvent) =>
        unquote(text.slice(valueStart, valueEnd), style === SCALAR_STYLE.DOUBLE_QUOTED),
      tag: () => "",
      anchor: () => "",
    },
  };
}

type State = { readonly text: string; readonly depth: number; readonly events: Event[]; at: number };

const SPACE = /[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings hold none unescaped.
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.+-])/y;
const WORD = /(?:true|false|null)(?!\w)/y;

const unquote = (raw: string, isString: boolean) =>
  isString && raw.includes("\\") ? String(JSON.parse(`"${raw}"`)) : raw;

function skipSpace(state: State): void {
  SPACE.lastIndex = state.at;
  SPACE.exec(state.text);
  state.at = SPACE.lastIndex;
}

function readEnd(state: State): Fault | null {
  skipSpace(state);
  return state.at < state.text.length ? syntax(state, "more after the end of the value") : null;
}

function readValue(state: State, depth: number): Fault | null {
  skipSpace(state);
  switch (state.text[state.at]) {
    case "{":
      return readObject(state, depth + 1);
    case "[":
      return readList(state, depth + 1);
    case '"':
      return readString(state);
    default:
      return readWord(state);
  }
}

function readObject(state: State, depth: number): Fault | null {
  return readItems(state, depth, EVENT_ID.MAPPING, "}", () => {
    if (state.text[state.at] !== '"') return syntax(state, "a key in double quotes is expected");
    const found = readString(state);
    if (found !== null) return found;
    skipSpace(state);
    if (state.text[state.at] !== ":") return syntax(state, "a `:` is expected after the key");
    state.at++;
    return readValue(state, depth);
  });
}

function readList(state: State, depth: number): Fault | null {
  return readItems(state, depth, EVENT_ID.SEQUENCE, "]", () => readValue(state, depth));
}

type Collection = typeof EVENT_ID.MAPPING | typeof EVENT_ID.SEQUENCE;

function readItems(
  state: State,
  depth: number,
  type: Collection,
  close: "]" | "}",
  readItem: () => Fault | null,
): Fault | null {
  if (depth > state.depth) return tooDeep(state.depth, state.at);
  state.events.push({ type, start: state.at++, style: COLLECTION_STYLE.FLOW, ...NO_PROPERTIES });
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
  state.events.push({ type: EVENT_ID.POP });
  return null;
}

function readString(state: State): Fault | null {
  STRING.lastIndex = state.at;
  if (!STRING.test(state.text)) return syntax(state, "a string that does not end, or with an unknown escape");
  pushScalar(state, state.at + 1, STRING.lastIndex - 1, SCALAR_STYLE.DOUBLE_QUOTED);
  state.at = STRING.lastIndex;
  return null;
}

function readWord(state: State): Fault | null {
  for (const pattern of [NUMBER, WORD]) {
    pattern.lastIndex = state.at;
    if (!pattern.test(state.text)) continue;
    pushScalar(state, state.at, pattern.lastIndex, SCALAR_STYLE.PLAIN);
    state.at = pattern.lastIndex;
    return null;
  }
  return syntax(state, state.at < state.text.length ? "a value is expected" : "the text ends too early");
}

const NO_PROPERTIES = { tagStart: -1, tagEnd: -1, anchorStart: -1, anchorEnd: -1 } as const;

function pushScalar(state: State, valueStart: number, valueEnd: number, style: ScalarEvent["style"]): void {
  const event = {
    type: EVENT_ID.SCALAR,
    valueStart,
    valueEnd,
    style,
    chomping: CHOMPING_MODE.CLIP,
    indent: -1,
    fast: true,
    ...NO_PROPERTIES,
  };
  state.events.push(event);
}

function syntax({ at }: State, what: string): Fault {
  return fault(
    at,
    "syntax",
    `not valid JSON: ${what}`,
    "A `.json` file is strict JSON: no comments, no trailing commas.",
  );
}
