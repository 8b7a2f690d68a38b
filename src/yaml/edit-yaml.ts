// biome-ignore lint/style/noRestrictedImports: it is given only texts that the readers have read within their limits
import { isAlias, isMap, isScalar, isSeq, type Node, parseDocument, Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { equal, isObject, type Json, type JsonObject, own } from "../contract/json.ts";
import { alignItems } from "./align-items.ts";
import { keyText, valueAfter } from "./write-yaml.ts";

const OPTIONS = { version: "1.2", keepSourceTokens: false, prettyErrors: false, uniqueKeys: true } as const;

/**
 * The text of a document whose value was `before`, changed to `after`: only the text of what differs is touched, so that
 * comments, order, quotes and spaces of all else stay. Null where the text has another value, or cannot be changed in place.
 */
export function editYaml(text: string, before: JsonObject, after: JsonObject): string | null {
  const document = parseDocument(text, OPTIONS);
  const { contents } = document;
  const value = valueIn(text);
  if (!isMap(contents) || value === null || !isAsExpected(value, value, before, before)) return null;
  const editing: Editing = { text, splices: [] };
  try {
    editMap(editing, contents, before, after);
  } catch (error) {
    if (error instanceof NotInPlace) return null;
    throw error;
  }
  const edited = splice(editing);
  const found = valueIn(edited);
  return found !== null && isAsExpected(found, value, before, after) ? edited : null;
}

/** The value of the text of a document; null where it is no object, or cannot be read. */
export function valueIn(text: string): JsonObject | null {
  const document = parseDocument(text, OPTIONS);
  if (document.errors.length > 0) return null;
  const value: unknown = document.toJS();
  return isObject(value) ? value : null;
}

// A document may lack fields that its manifest has, and have some that it lacks, such as `$schema`.
function isAsExpected(found: JsonObject, was: JsonObject, before: JsonObject, after: JsonObject): boolean {
  const names = new Set([found, was, before, after].flatMap(Object.keys));
  return [...names].every((name) => {
    const isChanged = !equal(own(before, name), own(after, name));
    const isOurs = Object.hasOwn(was, name) ? Object.hasOwn(before, name) : isChanged;
    return equal(own(found, name), own(isOurs ? after : was, name));
  });
}

type Splice = { readonly start: number; readonly end: number; readonly text: string };
type Editing = { readonly text: string; readonly splices: Splice[] };

function splice({ text, splices }: Editing): string {
  let [edited, end] = ["", text.length];
  for (const one of splices.toSorted((a, b) => a.start - b.start || a.end - b.end).toReversed()) {
    edited = one.text + text.slice(one.end, end) + edited;
    end = one.start;
  }
  return text.slice(0, end) + edited;
}

/** Where a value stands: after a colon or a dash. */
type Place = { readonly node: Node | null; readonly start: number; readonly indent: string; readonly isFlow: boolean };

type Entry = { readonly key: Node; readonly value: Node | null };

function editMap(editing: Editing, map: YAMLMap, before: JsonObject, after: JsonObject): void {
  const pairs = map.items as unknown as readonly Entry[];
  const named = new Map(pairs.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : "", pair]));
  const isFlow = map.flow === true;
  const removed = new Set<Entry>();
  const added: [string, Json][] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is, pair] = [own(before, name), own(after, name), named.get(name)];
    if (equal(was, is)) continue;
    if (is === undefined) {
      if (pair === undefined) throw new NotInPlace();
      removed.add(pair);
    } else if (pair === undefined) added.push([name, is]);
    else editValue(editing, placeOf(editing, pair, isFlow), was, is);
  }
  remove(editing, pairs, removed, { isFlow, startOf: ({ key }) => startOf(key) });
  const last = pairs.findLast((pair) => !removed.has(pair));
  if (added.length === 0) return;
  if (last === undefined) throw new NotInPlace();
  for (const [name, value] of added) {
    if (isFlow) addToFlow(editing, last, `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    else addLine(editing, last, `${keyText(name)}:${valueAfter(value, `${columnOf(editing.text, last.key)}  `)}`);
  }
}

function placeOf({ text }: Editing, { key, value }: Entry, isFlow: boolean): Place {
  const start = text.indexOf(":", endOf(text, key)) + 1;
  return { node: value, start, isFlow, indent: `${columnOf(text, key)}  ` };
}

function editValue(editing: Editing, place: Place, was: Json | undefined, is: Json): void {
  const { node } = place;
  if (isMap(node) && isObject(was) && isObject(is) && sharesField(was, is)) {
    editMap(editing, node, was, is);
  } else if (isSeq(node) && Array.isArray(was) && Array.isArray(is) && was.length * is.length > 0) {
    editSeq(editing, node as YAMLSeq<Node>, was, is);
  } else replaceValue(editing, place, is);
}

function replaceValue(editing: Editing, place: Place, is: Json): void {
  const { node, isFlow } = place;
  const hasAnchor = node !== null && !isAlias(node) && node.anchor !== undefined;
  if (isAlias(node) || hasAnchor || node?.tag !== undefined) throw new NotInPlace();
  const [start, end] = [startOf(node), node === null ? place.start : endOf(editing.text, node)];
  const text = isFlow ? ` ${JSON.stringify(is)}` : valueAfter(is, place.indent, { quote: quoteOf(node) });
  const isShort = isScalar(node) && end > start && !`${editing.text.slice(start, end)}${text}`.includes("\n");
  const isLine = isFlow ? node !== null : isShort;
  if (isLine) editing.splices.push({ start, end, text: text.slice(1) });
  else editing.splices.push({ start: place.start, end: Math.max(end, place.start), text });
}

function quoteOf(node: Node | null): "'" | '"' | null {
  if (!isScalar(node)) return null;
  return node.type === Scalar.QUOTE_SINGLE ? "'" : node.type === Scalar.QUOTE_DOUBLE ? '"' : null;
}

function sharesField(was: JsonObject, is: JsonObject): boolean {
  return Object.keys(was).some((name) => Object.hasOwn(is, name));
}

function editSeq(editing: Editing, seq: YAMLSeq<Node>, before: readonly Json[], after: readonly Json[]): void {
  const { items } = seq;
  const isFlow = seq.flow === true;
  const removed = new Set<Node>();
  let last: Node | undefined;
  for (const { was, is } of alignItems(before, after)) {
    const item = was === null ? undefined : items[was];
    if (item === undefined && was !== null) throw new NotInPlace();
    const [old, value] = [was === null ? undefined : before[was], is === null ? undefined : after[is]];
    if (item !== undefined && value === undefined) removed.add(item);
    else if (item !== undefined && value !== undefined) {
      last = item;
      if (equal(old, value)) continue;
      const indent = `${columnOf(editing.text, item, "-")}  `;
      editValue(editing, { node: item, start: dashOf(editing.text, item) + 1, isFlow, indent }, old, value);
    } else if (value !== undefined) addItem(editing, { value, last, first: items[0], isFlow });
  }
  remove(editing, items, removed, { isFlow, startOf: (item) => (isFlow ? startOf(item) : dashOf(editing.text, item)) });
}

function addItem(
  editing: Editing,
  { value, last, first, isFlow }: { value: Json; last: Node | undefined; first: Node | undefined; isFlow: boolean },
): void {
  const beside = last ?? first;
  if (beside === undefined) throw new NotInPlace();
  if (isFlow) {
    const start = startOf(beside);
    if (last !== undefined) addToFlow(editing, { key: last, value: last }, JSON.stringify(value));
    else editing.splices.push({ start, end: start, text: `${JSON.stringify(value)}, ` });
    return;
  }
  const indent = columnOf(editing.text, beside, "-");
  const text = `-${valueAfter(value, `${indent}  `, { isItem: true })}`;
  const start = dashOf(editing.text, beside);
  if (last !== undefined) addLine(editing, { key: last, value: last }, text, indent);
  else editing.splices.push({ start, end: start, text: `${text}\n${indent}` });
}

// After the line on which something ends, so that its comment stays beside it.
function addLine(editing: Editing, { key, value }: Entry, text: string, indent = columnOf(editing.text, key)): void {
  const end = editing.text.indexOf("\n", endOf(editing.text, value ?? key));
  const at = end === -1 ? editing.text.length : end;
  editing.splices.push({ start: at, end: at, text: `\n${indent}${text}` });
}

function addToFlow(editing: Editing, { key, value }: Entry, text: string): void {
  const at = endOf(editing.text, value ?? key);
  const lead = leadOf(editing.text, startOf(key));
  const isOwnLine = lead.trim() === "" && lead !== editing.text.slice(0, startOf(key));
  editing.splices.push({ start: at, end: at, text: isOwnLine ? `,\n${lead}${text}` : `, ${text}` });
}

type Removing<One> = { readonly isFlow: boolean; readonly startOf: (one: One) => number };

// In a flow collection, with the comma before; else whole lines, but never what stands before the first of them.
function remove<One extends object>(
  editing: Editing,
  all: readonly One[],
  removed: ReadonlySet<One>,
  { isFlow, startOf: start }: Removing<One>,
): void {
  if (removed.size === 0) return;
  if (removed.size === all.length) throw new NotInPlace();
  const firstKept = all.findIndex((one) => !removed.has(one));
  const [first, kept] = [all[0], all[firstKept]];
  const isLeading = first !== undefined && (isFlow || leadOf(editing.text, start(first)).trim() !== "");
  if (isLeading && firstKept > 0 && kept !== undefined) {
    editing.splices.push({ start: start(first), end: start(kept), text: "" });
  }
  for (const [at, one] of all.entries()) {
    if (!removed.has(one) || (isLeading && at < firstKept)) continue;
    const end = endOfOne(editing, one);
    const before = all[at - 1];
    if (isFlow && before !== undefined) editing.splices.push({ start: endOfOne(editing, before), end, text: "" });
    else {
      const line = editing.text.indexOf("\n", end);
      const lead = leadOf(editing.text, start(one));
      const from = start(one) - lead.length;
      editing.splices.push({ start: from, end: line === -1 ? editing.text.length : line + 1, text: "" });
    }
  }
}

function endOfOne(editing: Editing, given: object): number {
  const one = given as Node | Entry;
  return "key" in one ? endOf(editing.text, one.value ?? one.key) : endOf(editing.text, one);
}

class NotInPlace extends Error {}

function startOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}

/** Where the text of a value ends; comments and empty lines after it do not belong to it. */
function endOf(text: string, node: Node): number {
  if ((isMap(node) || isSeq(node)) && node.flow !== true) {
    const last = node.items.at(-1) as Node | Entry | undefined;
    if (last !== undefined) {
      if (!("key" in last)) return endOf(text, last);
      const end = last.value === null ? 0 : endOf(text, last.value);
      return Math.max(end, endOf(text, last.key));
    }
  }
  const [start, end] = node.range ?? [0, 0];
  return start + text.slice(start, end).trimEnd().length;
}

function dashOf(text: string, item: Node): number {
  return text.lastIndexOf("-", startOf(item) - 1);
}

function leadOf(text: string, at: number): string {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
}

/** As many spaces as stand before the column of a node, or of the dash before it. */
function columnOf(text: string, node: Node, of: "" | "-" = ""): string {
  return " ".repeat(leadOf(text, of === "-" ? dashOf(text, node) : startOf(node)).length);
}
