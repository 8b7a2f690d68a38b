import { COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE } from "js-yaml";
import { escapePointer } from "../contract/reference.ts";
import type { Position } from "../core/manifest.ts";
import type { ParsedDocument } from "./parse/document.ts";
import { type Stream, startOf } from "./parse/stream.ts";

/** Offsets of a field: where its key stands (for an item, the item), and its value. */
type Place = { readonly key: number; readonly value: number };

/** Finds fields by JSON Pointer; a field that is not there is found where its parent is. */
export type Locate = (pointer: string, at?: "key" | "value") => Position;

/** Positions in one document, read when first asked and kept. */
export function locator(document: ParsedDocument, positionAt: (offset: number) => Position): Locate {
  let places: ReadonlyMap<string, Place> | null = null;
  return (pointer, at = "value") => {
    places ??= placesOf(document);
    for (let path = pointer; path !== ""; path = path.slice(0, path.lastIndexOf("/"))) {
      const place = places.get(path);
      // A missing field is named by its parent's key, a wrong value by itself.
      if (place) return positionAt(place[path === pointer ? at : "key"]);
    }
    return positionAt(document.offset);
  };
}

function placesOf({ reread }: ParsedDocument): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  const found = reread();
  if (found !== null) walk({ stream: found.stream, base: found.offset, places, at: 1 }, "", -1);
  return places;
}

type State = { readonly stream: Stream; readonly base: number; readonly places: Map<string, Place>; at: number };

// A block under a key, and an empty value, are where their key is.
function walk(state: State, pointer: string, key: number): void {
  const event = state.stream.events[state.at++];
  if (event === undefined) return;
  const start = startOf(event);
  const value = start < 0 || (isBlock(event) && key >= 0) ? key : start;
  state.places.set(pointer, { key: state.base + (key < 0 ? value : key), value: state.base + value });
  if (event.type === EVENT_ID.MAPPING) walkMapping(state, pointer);
  if (event.type === EVENT_ID.SEQUENCE) walkSequence(state, pointer);
}

// Blocks begin after their key's line; the key says more.
function isBlock(event: Event): boolean {
  if (event.type === EVENT_ID.SCALAR) return event.style >= SCALAR_STYLE.LITERAL_BLOCK;
  const isCollection = event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE;
  return isCollection && event.style === COLLECTION_STYLE.BLOCK;
}

function walkMapping(state: State, pointer: string): void {
  while (!atEnd(state)) {
    const event = state.stream.events[state.at];
    const isName = event?.type === EVENT_ID.SCALAR;
    const name = isName ? state.stream.text(event) : "";
    const start = event ? startOf(event) : -1;
    if (isName) state.at++;
    else skip(state);
    walk(state, `${pointer}/${escapePointer(name)}`, Math.max(0, start));
  }
}

// A key that is no scalar is a fault by itself; nothing has a pointer through it.
function skip(state: State): void {
  const aside = { ...state, places: new Map() };
  walk(aside, "", -1);
  state.at = aside.at;
}

function walkSequence(state: State, pointer: string): void {
  for (let index = 0; !atEnd(state); index++) walk(state, `${pointer}/${index}`, -1);
}

function atEnd(state: State): boolean {
  const event = state.stream.events[state.at];
  if (event !== undefined && event.type !== EVENT_ID.POP) return false;
  state.at++;
  return true;
}
