import { isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLMap, type YAMLSeq } from "yaml";
import { escapePointer } from "../../contract/json-pointer.ts";

/** The names of the fields of mappings in their new order, by the JSON Pointers of the mappings; others stay as they are. */
export type FieldOrder = ReadonlyMap<string, readonly string[]>;

type Rewriting = { readonly text: string; readonly order: FieldOrder };

/** A field or an item: where its key or its value begins, and where the value ends. */
type Child = { readonly name: string; readonly start: number; readonly end: number; readonly value: ParsedNode | null };

/** A field to the end of its last line, with the lines of comments above it. */
type Piece = { readonly name: string; readonly above: string; readonly body: string };

type MapNode = YAMLMap.Parsed<ParsedNode, ParsedNode | null>;

/**
 * The text of a document in which the fields of each mapping have another order: every field takes its comments along, and
 * all else stays byte for byte. The text must be valid. Aliases are not looked at: read the result again.
 */
export function reorderFields(text: string, order: FieldOrder): string {
  const { contents, errors } = parseDocument(text, { schema: "failsafe", prettyErrors: false, logLevel: "silent" });
  if (errors.length > 0 || contents === null) return text;
  const from = firstOfDocument(text, contents);
  return text.slice(0, from) + rewritten({ text, order }, contents, from, text.length, "");
}

// Comments at the top are about the whole document, unless an empty line separates them from others above.
function firstOfDocument(text: string, contents: ParsedNode): number {
  const [start] = contents.range;
  const line = firstLine(text, contents, -1);
  if (/\S.*\n[ \t]*\n$/s.test(text.slice(0, line))) return line;
  return isIndented(text, start) ? lineOf(text, start) : start;
}

/** The new text of a range in which a node lies; the range of a mapping may begin with comments on its first field. */
function rewritten(by: Rewriting, node: ParsedNode | null, from: number, to: number, at: string): string {
  if (isMap(node))
    return node.flow ? flowFields(by, node as MapNode, from, to, at) : fields(by, node as MapNode, from, to, at);
  return isSeq(node) ? items(by, node as YAMLSeq.Parsed, from, to, at) : by.text.slice(from, to);
}

function items(by: Rewriting, node: YAMLSeq.Parsed, from: number, to: number, at: string): string {
  const column = columnAt(by.text, node.range[0]);
  let text = "";
  let done = from;
  for (const [nth, item] of node.items.entries()) {
    const next = node.items[nth + 1]?.range[0] ?? to;
    const end = node.flow ? item.range[1] : (lineAfter(by.text, endOf(item), next, column) ?? item.range[1]);
    const start = firstLine(by.text, item, done);
    text += by.text.slice(done, start) + rewritten(by, item, start, end, `${at}/${nth}`);
    done = end;
  }
  return text + by.text.slice(done, to);
}

function flowFields(by: Rewriting, node: MapNode, from: number, to: number, at: string): string {
  const children = childrenOf(node);
  const bodies = children.map((child) => ({ name: child.name, body: bodyOf(by, child, child.end, at) }));
  const gaps = children.map(({ end }, nth) => by.text.slice(end, children[nth + 1]?.start ?? end));
  // A comment, an anchor or a tag between two fields belongs to one of them.
  const isSimple = gaps.every((gap) => /^[\s,]*$/.test(gap)) && hasNames(node);
  const sorted = isSimple ? inOrder(bodies, by.order, at) : bodies;
  const [first, last] = [children[0]?.start ?? from, children.at(-1)?.end ?? from];
  const inner = sorted.map(({ body }, nth) => body + (gaps[nth] ?? "")).join("");
  return by.text.slice(from, first) + inner + by.text.slice(last, to);
}

function fields(by: Rewriting, node: MapNode, from: number, to: number, at: string): string {
  const { text } = by;
  const children = childrenOf(node);
  const first = children[0]?.start ?? from;
  const column = columnAt(text, first);
  const ends = children.map(({ end }, nth) => lineAfter(text, end, children[nth + 1]?.start ?? to, column));
  const isInline = !isIndented(text, first);
  const isSimple = children.every(
    ({ start }, nth) => nth === 0 || (isIndented(text, start) && columnAt(text, start) === column),
  );
  if (!isSimple || !hasNames(node) || ends.includes(null)) return text.slice(from, to);
  const pieces = children.map((child, nth): Piece => {
    const begin = nth === 0 ? from : (ends[nth - 1] ?? from);
    const above = nth === 0 && isInline ? "" : text.slice(begin, lineOf(text, child.start));
    return { name: child.name, above, body: bodyOf(by, child, ends[nth] ?? to, at) };
  });
  const end = ends.at(-1) ?? to;
  const head = isInline ? text.slice(from, first) : "";
  return head + joined(inOrder(pieces, by.order, at), { column, isInline }) + text.slice(end, to);
}

/** The pieces one below the other; the last line ends as the last line of all did. */
function joined(
  pieces: readonly Piece[],
  { column, isInline }: { readonly column: number; readonly isInline: boolean },
) {
  const indent = " ".repeat(column);
  const isCut = pieces.some(({ body }) => !body.endsWith("\n"));
  const lines = pieces.map(({ above, body }, nth) => {
    const comments = nth === 0 ? above.replace(/^(?:[ \t]*\n)+/, "") : above;
    const whole = body.endsWith("\n") ? body : `${body}\n`;
    // After `- `, the first comment stands in the line of the item.
    if (nth === 0 && isInline) return comments === "" ? whole : comments.trimStart() + indent + whole;
    return comments + indent + whole;
  });
  const text = lines.join("");
  return isCut ? text.slice(0, -1) : text;
}

function bodyOf(by: Rewriting, { name, start, value }: Child, end: number, at: string): string {
  if (!isMap(value) && !isSeq(value)) return by.text.slice(start, end);
  const begin = firstLine(by.text, value, start);
  return by.text.slice(start, begin) + rewritten(by, value, begin, end, `${at}/${escapePointer(name)}`);
}

function inOrder<One extends { readonly name: string }>(all: readonly One[], order: FieldOrder, at: string) {
  const byName = new Map(all.map((one) => [one.name, one]));
  const names = order.get(at);
  // Nothing may get lost, whatever the order is.
  if (names === undefined || names.length !== all.length || byName.size !== all.length) return all;
  const sorted = names.flatMap((name) => byName.get(name) ?? []);
  return sorted.length === all.length ? sorted : all;
}

function childrenOf(node: MapNode): readonly Child[] {
  return node.items.map(({ key, value }) => {
    const end = value === null ? key.range[1] : endOf(value);
    return {
      name: isScalar(key) ? String(key.value) : "",
      start: key.range[0],
      end: Math.max(key.range[1], end),
      value,
    };
  });
}

// An empty value lies behind the comments that follow it.
function endOf(node: ParsedNode): number {
  return isScalar(node) && node.source === "" && node.type === "PLAIN" ? -1 : node.range[1];
}

function hasNames({ items }: MapNode): boolean {
  return items.every(({ key }) => isScalar(key) && !key.anchor && !key.tag);
}

/** Where the range of a value begins: for a mapping at the comments on its first field. */
function firstLine(text: string, node: ParsedNode, after: number): number {
  const [start] = node.range;
  if (!isMap(node) || node.flow || !isIndented(text, start)) return start;
  let line = lineOf(text, start);
  for (
    let above = lineOf(text, line - 1);
    above > after && /^ *#/.test(text.slice(above, line));
    above = lineOf(text, line - 1)
  ) {
    line = above;
  }
  return line > after ? line : start;
}

/** The start of the line that no longer belongs to a value: comments that are indented deeper still do. */
function lineAfter(text: string, end: number, next: number, column: number): number | null {
  let line = text[end - 1] === "\n" ? end : afterLine(text, end);
  if (line > next) return null;
  while (line < next) {
    const indent = /^( *)#/.exec(text.slice(line, afterLine(text, line)))?.[1]?.length ?? -1;
    if (indent <= column) break;
    line = afterLine(text, line);
  }
  return line;
}

function afterLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end + 1;
}

function lineOf(text: string, at: number): number {
  return text.lastIndexOf("\n", at - 1) + 1;
}

function columnAt(text: string, at: number): number {
  return at - lineOf(text, at);
}

function isIndented(text: string, at: number): boolean {
  return /^ *$/.test(text.slice(lineOf(text, at), at));
}
