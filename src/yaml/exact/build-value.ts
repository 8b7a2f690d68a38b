// src/yaml/exact: the reader that knows all of YAML, in a process of its own. See docs/manifests.md#two-parsers.

import { isAlias, isMap, isScalar, isSeq, type ParsedNode } from "yaml";
import type { Json } from "../../contract/json.ts";
import { escapePointer } from "../../contract/json-pointer.ts";
import { isSecretText } from "../../model/connection-secret.ts";
import { namingFields } from "../../model/normal-form.ts";
import { duplicateKey, type Fault, fault, MAX_FAULTS, tooDeep, tooManyNodes } from "../fault.ts";
import type { YamlLimits } from "../limits.ts";
import { checkText } from "../misleading-characters.ts";
import { numberFault, resolvePlain } from "../plain-scalar.ts";
import { isRespelt, type Respelling } from "../respelling.ts";
import { collectionTagFault, resolveTagged } from "./resolve-tag.ts";

/** The value of a document, with the faults of everything that manifests may not contain. */
export type Built = {
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** The offset of its content. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
  readonly respellings: readonly Respelling[];
};

/** The number of characters that a file's aliases may still repeat. */
export type AliasBudget = { left: number };

/** An anchored value, and what each alias to it adds: nodes, characters, levels, and respellings below its place. */
type Anchored = {
  readonly value: Json;
  readonly nodes: number;
  readonly characters: number;
  readonly depth: number;
  readonly respellings: readonly Respelling[];
};

type Node = ParsedNode | null;
type ScalarNode = ParsedNode & { readonly source?: string; readonly type?: string };
type MapNode = Extract<ParsedNode, { readonly items: readonly { readonly key: unknown }[] }>;
type ListNode = Exclude<Extract<ParsedNode, { readonly items: readonly unknown[] }>, MapNode>;

type State = {
  readonly limits: YamlLimits;
  readonly faults: Fault[];
  readonly checksText: boolean;
  readonly aliases: AliasBudget;
  /** By name; null while the anchored node is still open. */
  readonly anchors: Map<string, Anchored | null>;
  readonly respellings: Respelling[];
  /** The JSON Pointer of the value that is read. */
  pointer: string;
  hasCredentials: boolean;
  nodes: number;
  /** Number of characters in the keys and values read, aliases expanded. */
  characters: number;
  /** Depth of the deepest node read, aliases expanded. */
  deepest: number;
};

/** Builds a document's value from its nodes; with `checksText`, every string is checked for misleading characters. */
export function build(
  root: ParsedNode,
  limits: YamlLimits,
  { checksText, aliases }: { readonly checksText: boolean; readonly aliases: AliasBudget },
): Built {
  const counts = { hasCredentials: false, nodes: 0, characters: 0, deepest: 0 };
  const found = { faults: [], respellings: [], pointer: "" };
  const state: State = { limits, checksText, aliases, anchors: new Map(), ...found, ...counts };
  const value = readNode(state, root, 0);
  const { faults, respellings, hasCredentials } = state;
  return { value, faults, offset: Math.max(0, startOf(root)), hasCredentials, respellings };
}

/** The offset of a node in the text; -1 for an empty value. */
export function startOf(node: Node): number {
  if (node === null) return -1;
  const isEmpty = isScalar(node) && node.source === "" && node.type === "PLAIN";
  return isEmpty && !hasProperties(node) ? -1 : (node.range?.[0] ?? 0);
}

function hasProperties(node: ParsedNode): boolean {
  return Boolean(tagOf(node)) || Boolean("anchor" in node && node.anchor);
}

function tagOf(node: ParsedNode): string {
  return ("tag" in node && node.tag) || "";
}

function report(state: State, found: Fault | null): void {
  if (found !== null && state.faults.length < MAX_FAULTS) state.faults.push(found);
}

function readNode(state: State, node: Node, depth: number): Json {
  if (isAlias(node)) return readAlias(state, node.source, startOf(node), depth);
  countNodes(state, 1, startOf(node));
  if (node === null) return null;
  const anchor = "anchor" in node ? node.anchor : undefined;
  return anchor ? readAnchored(state, node, anchor, depth) : readContent(state, node, depth);
}

function readChild(state: State, node: Node, name: string, depth: number): Json {
  const { pointer } = state;
  state.pointer = `${pointer}/${escapePointer(name)}`;
  const value = readNode(state, node, depth);
  state.pointer = pointer;
  return value;
}

function readContent(state: State, node: ParsedNode, depth: number): Json {
  if (isMap(node)) return readMapping(state, node as MapNode, depth + 1);
  return isSeq(node) ? readSequence(state, node as ListNode, depth + 1) : readScalar(state, node as ScalarNode);
}

// Records the size of the node, since every alias to it counts as much again.
function readAnchored(state: State, node: ParsedNode, anchor: string, depth: number): Json {
  const { nodes, characters, deepest, pointer } = state;
  const before = state.respellings.length;
  state.anchors.set(anchor, null);
  state.deepest = depth;
  const value = readContent(state, node, depth);
  state.anchors.set(anchor, {
    value,
    nodes: state.nodes - nodes + 1,
    characters: state.characters - characters,
    depth: state.deepest - depth,
    respellings: state.respellings.slice(before).map((one) => ({ ...one, pointer: one.pointer.slice(pointer.length) })),
  });
  state.deepest = Math.max(deepest, state.deepest);
  return value;
}

function countNodes(state: State, count: number, offset: number): void {
  const { nodes: most } = state.limits;
  const wasWithin = state.nodes <= most;
  state.nodes += count;
  if (!wasWithin || state.nodes <= most) return;
  report(state, tooManyNodes(most, Math.max(0, offset)));
}

function goDeeper(state: State, depth: number, offset: number): void {
  const isFirst = state.deepest <= state.limits.depth;
  state.deepest = Math.max(state.deepest, depth);
  if (depth > state.limits.depth && isFirst) report(state, tooDeep(state.limits.depth, offset));
}

// The name is not shown: a password that starts with `*` looks like an alias.
const UNNAMED = 'Anchor it (`&…`) before it is used. If it is a text, put it in "quotes".';

function readAlias(state: State, name: string, offset: number, depth: number): Json {
  const anchored = state.anchors.get(name);
  if (anchored === undefined) {
    report(state, fault(offset, "unknown-anchor", "an alias (`*…`) of something that is not anchored above", UNNAMED));
    return null;
  }
  if (anchored === null) {
    report(
      state,
      fault(offset, "recursive-alias", "an alias (`*…`) to the value that contains it", "Write the value out."),
    );
    return null;
  }
  countNodes(state, anchored.nodes, offset);
  goDeeper(state, depth + anchored.depth, offset);
  for (const { pointer, written } of anchored.respellings) noteRespelling(state, state.pointer + pointer, written);
  return takeFromBudget(state, anchored.characters, offset) ? anchored.value : null;
}

// The limit of nodes bounds them too: aliases of aliases multiply.
function noteRespelling({ respellings, nodes, limits }: State, pointer: string, written: string): void {
  if (nodes <= limits.nodes) respellings.push({ pointer, written });
}

// A long aliased text costs nothing here, but its full length each time it is sent or shown.
function takeFromBudget(state: State, characters: number, offset: number): boolean {
  const { aliases, limits } = state;
  const wasWithin = aliases.left >= 0;
  state.characters += characters;
  aliases.left -= characters;
  if (aliases.left >= 0) return true;
  const summary = `aliases that repeat more than ${limits.fileBytes} characters`;
  const detail = "Aliases count as often as they are used. Split the file.";
  if (wasWithin) report(state, fault(offset, "too-large", summary, detail));
  return false;
}

function readScalar(state: State, node: ScalarNode): Json {
  // A node of nothing but a tag or an anchor has no source.
  const text = node.source ?? "";
  const offset = Math.max(0, startOf(node));
  state.characters += text.length;
  if (state.checksText) report(state, checkText(text, offset, "value"));
  if (isSecretText(text)) state.hasCredentials = true;
  const tag = tagOf(node);
  if (tag === "" && node.type !== "PLAIN") return text;
  const scalar = tag === "" ? resolvePlain(text) : resolveTagged(tag, text);
  if (scalar.is === "value") {
    if (isRespelt(text, scalar.value)) noteRespelling(state, state.pointer, text);
    return scalar.value;
  }
  if (scalar.is === "bad-tag") {
    report(state, fault(offset, "tag", scalar.summary, scalar.detail));
    return text;
  }
  report(state, numberFault(scalar.is, offset));
  noteRespelling(state, state.pointer, text);
  return 0;
}

function readSequence(state: State, node: ListNode, depth: number): Json {
  report(state, collectionTagFault(tagOf(node), "seq", startOf(node)));
  goDeeper(state, depth, startOf(node));
  const items: Json[] = [];
  for (const [nth, each] of node.items.entries()) {
    const item = readChild(state, each as Node, String(nth), depth);
    if (state.nodes <= state.limits.nodes) items.push(item);
  }
  return items;
}

function readMapping(state: State, node: MapNode, depth: number): Json {
  report(state, collectionTagFault(tagOf(node), "map", startOf(node)));
  goDeeper(state, depth, startOf(node));
  const fields: Record<string, Json> = {};
  for (const [nth, pair] of node.items.entries()) {
    const key = readKey(state, pair.key as Node, depth);
    const respellings = state.respellings.length;
    const value = readChild(state, pair.value as Node, key ?? "", depth);
    if (nth === state.limits.keys) {
      const summary = `a mapping with more than ${state.limits.keys} keys`;
      report(state, fault(startOf(node), "too-many-keys", summary));
    }
    if (key === null || !isKept(state, key, value, { count: nth + 1, depth })) continue;
    if (!Object.hasOwn(fields, key)) define(fields, key, value);
    else {
      reportTwice(state, key, pair.key as Node, node);
      // Of the value that counts only: the pointer is that of the first.
      state.respellings.length = respellings;
    }
  }
  return fields;
}

function reportTwice(state: State, key: string, second: Node, { items }: MapNode): void {
  // Finding the first occurrence is linear in the size of the mapping.
  if (state.faults.length >= MAX_FAULTS) return;
  const first = items.find((pair) => isScalar(pair.key) && pair.key.source === key);
  const [at, before] = [startOf(second), startOf((first?.key ?? null) as Node)];
  report(state, duplicateKey(key, Math.max(0, at), Math.max(0, before)));
}

// Beyond the limits only the naming fields are kept.
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

/** Reads a key; null where it cannot be one, with the fault reported. */
function readKey(state: State, node: Node, depth: number): string | null {
  // An empty key has a place too.
  const offset = node?.range?.[0] ?? 0;
  if (!isScalar(node) || hasProperties(node)) return readOddKey(state, node, depth);
  countNodes(state, 1, offset);
  const key = (node as ScalarNode).source ?? "";
  state.characters += key.length;
  if (state.checksText) report(state, checkText(key, offset, "key"));
  return node.type === "PLAIN" ? plainKey(state, key, offset) : key;
}

function plainKey(state: State, key: string, offset: number): string | null {
  if (key === "<<") {
    const detail = "Write the fields out; YAML 1.2 has no merge keys.";
    report(state, fault(offset, "merge-key", "merge keys (`<<`) are not supported", detail));
    return null;
  }
  const scalar = resolvePlain(key);
  if (scalar.is === "value" && typeof scalar.value === "string") return key;
  report(state, fault(offset, "key", "a key that is not a string", "Quote it."));
  return null;
}

// Anchored and tagged keys are legal YAML, though rare; lists, mappings and aliases as keys are not supported.
function readOddKey(state: State, node: Node, depth: number): string | null {
  const value = readNode(state, node, depth);
  const offset = Math.max(0, startOf(node));
  if (typeof value === "string" && isScalar(node)) {
    return node.type === "PLAIN" && tagOf(node) === "" ? plainKey(state, value, offset) : value;
  }
  report(state, fault(offset, "key", "a key that is not a string", "Quote it."));
  return null;
}
