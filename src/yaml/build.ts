import { EVENT_ID, type Event, SCALAR_STYLE } from "js-yaml";
import type { Json } from "../contract/json.ts";
import { isCredential, SHORTEST_CREDENTIAL } from "../model/credential.ts";
import { namingFields } from "../model/naming-fields.ts";
import { type Fault, fault, quoted } from "./fault.ts";
import { checkText } from "./invisible.ts";
import type { YamlLimits } from "./limits.ts";
import { tooDeep } from "./nesting.ts";
import { resolvePlain } from "./scalar.ts";
import { type NodeEvent, type ScalarEvent, type Stream, startOf } from "./stream.ts";
import { collectionTagFault, resolveTagged } from "./tag.ts";

/** The value of a document, with everything in it that manifests may not contain. */
export type Built = {
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** Where the content starts; -1 when the document is empty. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
};

/** Characters that the aliases of a file may still repeat. */
export type Room = { left: number };

/** What an anchor stands for: its value, and how many nodes, characters and levels one alias to it adds. */
type Anchored = { readonly value: Json; readonly nodes: number; readonly characters: number; readonly depth: number };

type State = {
  readonly stream: Stream;
  readonly limits: YamlLimits;
  readonly faults: Fault[];
  readonly looksOdd: boolean;
  readonly room: Room;
  /** By name; null while the anchored node is still open. Most documents have none. */
  anchors: Map<string, Anchored | null> | null;
  hasCredentials: boolean;
  at: number;
  nodes: number;
  /** Characters of the keys and values seen so far, aliases expanded. */
  characters: number;
  /** Levels of the deepest node seen so far, aliases expanded. */
  deepest: number;
};

/** Faults of one document beyond this many add nothing. */
const MOST_FAULTS = 100;

/** Builds a document's value from its nodes; `looksOdd` asks for a closer look at every string. */
export function build(
  stream: Stream,
  limits: YamlLimits,
  { looksOdd, room }: { readonly looksOdd: boolean; readonly room: Room },
): Built {
  const faults: Fault[] = [];
  const state: State = {
    stream,
    limits,
    faults,
    anchors: null,
    looksOdd,
    room,
    hasCredentials: false,
    at: 1,
    nodes: 0,
    characters: 0,
    deepest: 0,
  };
  const first = stream.events[1];
  const value = readNode(state, 0);
  const offset = first === undefined ? -1 : startOf(first);
  return { value, faults, offset, hasCredentials: state.hasCredentials };
}

function report(state: State, found: Fault | null): void {
  if (found !== null && state.faults.length < MOST_FAULTS) state.faults.push(found);
}

function readNode(state: State, depth: number): Json {
  const event = state.stream.events[state.at++];
  if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return null;
  if (event.type === EVENT_ID.ALIAS) return readAlias(state, state.stream.anchor(event), event.anchorStart - 1, depth);
  countNodes(state, 1, event);
  return event.anchorStart < 0 ? readContent(state, event, depth) : readAnchored(state, event, depth);
}

function readContent(state: State, event: NodeEvent, depth: number): Json {
  if (event.type === EVENT_ID.SCALAR) return readScalar(state, event);
  return event.type === EVENT_ID.MAPPING ? readMapping(state, event, depth + 1) : readSequence(state, event, depth + 1);
}

// Remembers how large the node is, since every alias to it counts as much again.
function readAnchored(state: State, event: NodeEvent, depth: number): Json {
  const name = state.stream.anchor(event);
  const { nodes, characters, deepest } = state;
  state.anchors ??= new Map();
  state.anchors.set(name, null);
  state.deepest = depth;
  const value = readContent(state, event, depth);
  state.anchors.set(name, {
    value,
    nodes: state.nodes - nodes + 1,
    characters: state.characters - characters,
    depth: state.deepest - depth,
  });
  state.deepest = Math.max(deepest, state.deepest);
  return value;
}

function countNodes(state: State, count: number, event: { readonly anchorStart: number } | NodeEvent): void {
  const { nodes: most } = state.limits;
  const wasWithin = state.nodes <= most;
  state.nodes += count;
  if (!wasWithin || state.nodes <= most) return;
  const offset = "tagStart" in event ? startOf(event) : event.anchorStart;
  report(
    state,
    fault(
      Math.max(0, offset),
      "too-many-nodes",
      `more than ${most} values in one document`,
      "Aliases count as often as they are used. Split the document.",
    ),
  );
}

function goDeeper(state: State, depth: number, offset: number): boolean {
  const isFirst = state.deepest <= state.limits.depth;
  state.deepest = Math.max(state.deepest, depth);
  if (depth <= state.limits.depth) return true;
  if (isFirst) report(state, tooDeep(state.limits.depth, offset));
  return false;
}

// Its name is not shown: a password that begins with `*` looks like one.
const UNNAMED = 'Anchor it (`&…`) before it is used. If it is a text, put it in "quotes".';

function readAlias(state: State, name: string, offset: number, depth: number): Json {
  const anchored = state.anchors?.get(name);
  if (anchored === undefined) {
    report(state, fault(offset, "unknown-anchor", "an alias (`*…`) of something that is not anchored above", UNNAMED));
    return null;
  }
  if (anchored === null) {
    report(state, fault(offset, "recursive-alias", "an alias (`*…`) of what it is in", "Write out what is meant."));
    return null;
  }
  countNodes(state, anchored.nodes, { anchorStart: offset });
  goDeeper(state, depth + anchored.depth, offset);
  return hasRoom(state, anchored.characters, offset) ? anchored.value : null;
}

// A long text behind an alias costs nothing here, and as much as it is long each time it is sent or shown.
function hasRoom(state: State, characters: number, offset: number): boolean {
  const { room, limits } = state;
  const wasWithin = room.left >= 0;
  state.characters += characters;
  room.left -= characters;
  if (room.left >= 0) return true;
  const summary = `aliases that repeat more than ${limits.fileBytes} characters`;
  const detail = "Aliases count as often as they are used. Split the file.";
  if (wasWithin) report(state, fault(offset, "too-large", summary, detail));
  return false;
}

function readScalar(state: State, event: ScalarEvent): Json {
  const text = state.stream.text(event);
  state.characters += text.length;
  if (state.looksOdd) report(state, checkText(text, startOf(event), "value"));
  if (text.length >= SHORTEST_CREDENTIAL && isCredential(text)) state.hasCredentials = true;
  if (event.tagStart >= 0) return readTagged(state, event, text);
  if (event.style !== SCALAR_STYLE.PLAIN) return text;
  const scalar = resolvePlain(text);
  if (scalar.is === "value") return scalar.value;
  report(state, numberFault(scalar.is, startOf(event)));
  return 0;
}

function readTagged(state: State, event: ScalarEvent, text: string): Json {
  const resolved = resolveTagged(state.stream.tag(event), text);
  switch (resolved.is) {
    case "value":
      return resolved.value;
    case "bad-tag":
      report(state, fault(startOf(event), "tag", resolved.summary, resolved.detail));
      return text;
    default:
      report(state, numberFault(resolved.is, startOf(event)));
      return 0;
  }
}

function numberFault(is: "octal-looking" | "unsafe-integer" | "not-finite", offset: number): Fault {
  switch (is) {
    case "octal-looking":
      return fault(
        offset,
        "octal-looking",
        "a number with a leading zero",
        'Quote it ("0755") if it is a name or a mode; write 0o755 for an octal number.',
      );
    case "unsafe-integer":
      return fault(
        offset,
        "unsafe-integer",
        "an integer too large to be kept exactly",
        "Quote it if it is a name or an id.",
      );
    case "not-finite":
      return fault(
        offset,
        "not-finite",
        "a number that is not finite",
        "Manifests carry finite numbers only. Quote it if it is a name.",
      );
  }
}

function readSequence(state: State, event: NodeEvent, depth: number): Json {
  report(state, collectionTagFault(state.stream.tag(event), "seq", startOf(event)));
  goDeeper(state, depth, startOf(event));
  const items: Json[] = [];
  while (!atEnd(state)) {
    const item = readNode(state, depth);
    if (state.nodes <= state.limits.nodes) items.push(item);
  }
  return items;
}

function readMapping(state: State, event: NodeEvent, depth: number): Json {
  report(state, collectionTagFault(state.stream.tag(event), "map", startOf(event)));
  goDeeper(state, depth, startOf(event));
  const fields: Record<string, Json> = {};
  let count = 0;
  const first = state.at;
  while (!atEnd(state)) {
    const keyEvent = state.stream.events[state.at];
    const key = readKey(state, depth);
    const value = readNode(state, depth);
    if (++count === state.limits.keys + 1)
      report(state, fault(startOf(event), "too-many-keys", `a mapping with more than ${state.limits.keys} keys`));
    if (key === null || !isKept(state, key, value, { count, depth })) continue;
    if (Object.hasOwn(fields, key)) reportTwice(state, key, keyEvent, first);
    else define(fields, key, value);
  }
  return fields;
}

function reportTwice(state: State, key: string, event: Event | undefined, first: number): void {
  // Looking for the first takes as long as the mapping is.
  if (state.faults.length >= MOST_FAULTS) return;
  const summary = `the key ${quoted(key)} is there twice`;
  const found = fault(event ? startOf(event) : 0, "duplicate-key", summary, "Keep one of them.");
  report(state, { ...found, other: offsetOfKey(state.stream, key, first) });
}

// Keys and values take turns; what is inside a value lies between its event and its end.
function offsetOfKey({ events, text }: Stream, key: string, from: number): number {
  let [depth, isKey] = [0, true];
  for (let at = from; at < events.length; at++) {
    const event = events[at];
    if (event === undefined) break;
    if (depth === 0 && isKey && event.type === EVENT_ID.SCALAR && text(event) === key) return startOf(event);
    if (event.type === EVENT_ID.POP) depth--;
    if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) depth++;
    if (depth === 0) isKey = !isKey;
  }
  return 0;
}

// Beyond the limits nothing is kept but what the document is called.
function isKept(
  { nodes, limits }: State,
  key: string,
  value: Json,
  { count, depth }: { readonly count: number; readonly depth: number },
): boolean {
  if (nodes <= limits.nodes && count <= limits.keys) return true;
  return depth === 1 && typeof value === "string" && namingFields.includes(key);
}

// An ordinary assignment to `__proto__` would set the object's prototype instead.
function define(fields: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
  else fields[key] = value;
}

function atEnd(state: State): boolean {
  const event = state.stream.events[state.at];
  if (event !== undefined && event.type !== EVENT_ID.POP) return false;
  state.at++;
  return true;
}

/** Reads a key; null when it cannot be one, with the fault reported. */
function readKey(state: State, depth: number): string | null {
  const event = state.stream.events[state.at];
  if (event?.type !== EVENT_ID.SCALAR || event.tagStart >= 0 || event.anchorStart >= 0) return readOddKey(state, depth);
  state.at++;
  countNodes(state, 1, event);
  const key = state.stream.text(event);
  state.characters += key.length;
  if (state.looksOdd) report(state, checkText(key, startOf(event), "key"));
  if (event.style !== SCALAR_STYLE.PLAIN) return key;
  return plainKey(state, key, startOf(event));
}

function plainKey(state: State, key: string, offset: number): string | null {
  if (key === "<<") {
    report(
      state,
      fault(
        offset,
        "merge-key",
        "merge keys (`<<`) are not supported",
        "Write the fields out; YAML 1.2 has no merge keys.",
      ),
    );
    return null;
  }
  const scalar = resolvePlain(key);
  if (scalar.is === "value" && typeof scalar.value === "string") return key;
  report(state, fault(Math.max(0, offset), "key", "a key that is not a string", "Quote it."));
  return null;
}

// Anchored and tagged keys are legal YAML, if rare; lists, mappings and aliases as keys are not ours.
function readOddKey(state: State, depth: number): string | null {
  const event = state.stream.events[state.at];
  const value = readNode(state, depth);
  if (typeof value === "string" && event?.type === EVENT_ID.SCALAR) {
    return event.style === SCALAR_STYLE.PLAIN && event.tagStart < 0 ? plainKey(state, value, startOf(event)) : value;
  }
  report(state, fault(event ? Math.max(0, startOf(event)) : 0, "key", "a key that is not a string", "Quote it."));
  return null;
}
