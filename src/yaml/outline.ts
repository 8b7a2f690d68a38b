import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from "js-yaml";
import { type Stream, startOf } from "./stream.ts";

/** Where a value stands in a file's text and what is inside it: plain data, linear in the size of the document. */
export type Outline = {
  /** Offset of its key; for an item of a list, of the item. */
  readonly key: number;
  readonly value: number;
  /** Fields by name, items by number; null where nothing is inside. */
  readonly inside: ReadonlyMap<string, Outline> | null;
};

/** The outline of a document that starts at the given offset of its file. */
export function outlineOf(stream: Stream, base: number): Outline {
  return read({ stream, base, at: 1 }, -1);
}

/** An outline of at most so many places: the deepest levels go first. */
export function shallow(outline: Outline, most: number): Outline {
  let [count, depth, level] = [1, 0, [outline]];
  while (level.length > 0) {
    level = level.flatMap(({ inside }) => (inside === null ? [] : [...inside.values()]));
    count += level.length;
    if (count > most) return cut(outline, depth);
    depth++;
  }
  return outline;
}

function cut(outline: Outline, depth: number): Outline {
  if (depth === 0 || outline.inside === null) return { ...outline, inside: null };
  return { ...outline, inside: new Map([...outline.inside].map(([name, place]) => [name, cut(place, depth - 1)])) };
}

type State = { readonly stream: Stream; readonly base: number; at: number };

// A block under a key, and an empty value, are where their key is.
function read(state: State, key: number): Outline {
  const event = state.stream.events[state.at++];
  const start = event === undefined ? -1 : startOf(event);
  const value = start < 0 || (event !== undefined && isBlock(event) && key >= 0) ? key : start;
  return { key: state.base + (key < 0 ? value : key), value: state.base + value, inside: inside(state, event) };
}

function inside(state: State, event: Event | undefined): Outline["inside"] {
  if (event?.type === EVENT_ID.MAPPING) return fields(state);
  return event?.type === EVENT_ID.SEQUENCE ? items(state) : null;
}

// Blocks begin after their key's line; the key says more.
function isBlock(event: Event): boolean {
  if (event.type === EVENT_ID.SCALAR) return event.style >= SCALAR_STYLE.LITERAL_BLOCK;
  const isCollection = event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE;
  return isCollection && event.style === COLLECTION_STYLE.BLOCK;
}

function fields(state: State): ReadonlyMap<string, Outline> {
  const inside = new Map<string, Outline>();
  while (!atEnd(state)) {
    const event = state.stream.events[state.at];
    const start = Math.max(0, event === undefined ? -1 : startOf(event));
    // A key that is no scalar is a fault by itself; nothing has a pointer through it.
    const name = event?.type === EVENT_ID.SCALAR ? state.stream.text(event) : "";
    read(state, -1);
    const field = read(state, start);
    if (!inside.has(name)) inside.set(name, field);
  }
  return inside;
}

function items(state: State): ReadonlyMap<string, Outline> {
  const inside = new Map<string, Outline>();
  while (!atEnd(state)) inside.set(String(inside.size), read(state, -1));
  return inside;
}

function atEnd(state: State): boolean {
  const event = state.stream.events[state.at];
  if (event !== undefined && event.type !== EVENT_ID.POP) return false;
  state.at++;
  return true;
}
