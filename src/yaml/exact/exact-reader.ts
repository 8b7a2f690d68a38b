import { isMap, isScalar, isSeq, type ParsedNode, parseDocument, type YAMLError } from "yaml";
import { faultyDocument, type ParsedDocument } from "../document.ts";
import { type Fault, fault, tooDeep } from "../fault.ts";
import type { FieldOffsets } from "../field-offsets.ts";
import type { YamlLimits } from "../limits.ts";
import { lineFinder } from "../locator.ts";
import { firstMergeConflict } from "../merge-conflict.ts";
import type { ExactReader } from "../parse-file.ts";
import type { Chunk } from "../split-documents.ts";
import { type AliasBudget, build, startOf } from "./build-value.ts";
import { isTemplateFault, likelyMistake, TEMPLATE } from "./likely-mistake.ts";

/** Reads the documents of one file with the library `yaml`; their aliases share one budget. */
export function exactReader(limits: YamlLimits, checksText: boolean): ExactReader {
  const aliases: AliasBudget = { left: limits.fileBytes };
  return (chunk) => readExact(chunk, limits, { checksText, aliases });
}

function readExact(
  chunk: Chunk,
  limits: YamlLimits,
  options: { readonly checksText: boolean; readonly aliases: AliasBudget },
): ParsedDocument | null {
  const parsed = parseExact(chunk.text, limits);
  const shifted = (faults: readonly Fault[]) => faults.map((each) => shift(each, chunk.offset));
  if ("faults" in parsed)
    return { ...faultyDocument(chunk, shifted(withoutEchoes(parsed.faults, chunk.text))), readBy: "exact" };
  const { root } = parsed;
  if (root === null) return chunk.isExplicit ? faultyDocument(chunk, []) : null;
  const { value, faults, offset, hasCredentials, respellings } = build(root, limits, options);
  return {
    value,
    faults: shifted(faults.map((each) => (isTemplate(each, chunk.text) ? { ...each, ...TEMPLATE } : each))),
    offset: chunk.offset + offset,
    hasCredentials,
    chunk,
    readBy: "exact",
    fieldOffsets: () => nodeOffsets(root, chunk.offset),
    respellings: () => respellings,
  };
}

function shift({ other, ...found }: Fault, by: number): Fault {
  const shifted = { ...found, offset: Math.max(0, found.offset) + by };
  return other === undefined ? shifted : { ...shifted, other: Math.max(0, other) + by };
}

// Each conflict marker and each line of a template causes faults, wherever the parser notices, so only the cause is reported.
function withoutEchoes(faults: readonly Fault[], text: string): readonly Fault[] {
  const conflict = firstMergeConflict(text);
  if (conflict !== null)
    return [fault(conflict.offset, "syntax", `not valid YAML: ${conflict.summary}`, conflict.detail)];
  const cause = faults.find(isTemplateFault);
  return cause === undefined ? faults : [cause];
}

// `{{` in YAML is a mapping as the key of another, which is never intended.
function isTemplate({ code, offset }: Fault, text: string): boolean {
  return code === "key" && text.startsWith("{{", offset - 1);
}

type Node = ParsedNode | null;

/** The field offsets of a document's nodes; `base` is the offset of its text in the file. */
function nodeOffsets(root: ParsedNode, base: number): FieldOffsets {
  return offsetsOfItem(root, base, 0);
}

// A block under a key, and an empty value, have the offset of their key.
function offsetsOfField(node: Node, base: number, key: number): FieldOffsets {
  const start = startOf(node);
  const value = start < 0 || isBlock(node) ? key : start;
  return { key: base + key, value: base + value, inside: inside(node, base) };
}

// An empty item has the offset of its list.
function offsetsOfItem(node: Node, base: number, list: number): FieldOffsets {
  const start = startOf(node);
  const at = base + (start < 0 ? list : start);
  return { key: at, value: at, inside: inside(node, base) };
}

function inside(node: Node, base: number): FieldOffsets["inside"] {
  if (isSeq(node)) {
    return new Map(node.items.map((item, nth) => [String(nth), offsetsOfItem(item as Node, base, startOf(node))]));
  }
  if (!isMap(node)) return null;
  const fields = new Map<string, FieldOffsets>();
  for (const pair of node.items) {
    const key = pair.key as Node;
    // A key that is not a scalar is a fault of its own; no pointer passes through it.
    const name = isScalar(key) ? String(key.source ?? "") : "";
    if (!fields.has(name)) fields.set(name, offsetsOfField(pair.value as Node, base, Math.max(0, startOf(key))));
  }
  return fields;
}

// A block starts after its key's line, so the key's position is more useful.
function isBlock(node: Node): boolean {
  if (isScalar(node)) return node.type === "BLOCK_LITERAL" || node.type === "BLOCK_FOLDED";
  return (isMap(node) || isSeq(node)) && !node.flow;
}

/** The root of a document's nodes (null when it has only white space and comments), or its faults. */
type Parsed = { readonly root: ParsedNode | null } | { readonly faults: readonly Fault[] };

/** Parses one document with the library `yaml`: the reference for the meaning of a text, and slow. */
function parseExact(text: string, { depth }: YamlLimits): Parsed {
  const { stackTraceLimit } = Error;
  // The parser creates an error object for every fault; their stack traces would cost more than the parsing.
  Error.stackTraceLimit = 0;
  try {
    const { errors, contents } = parseDocument(text, OPTIONS);
    if (errors.length === 0) return { root: contents };
    // The nesting exceeds the call stack, which the parser reports as an error of the text.
    if (errors.some(({ code }) => code === "RESOURCE_EXHAUSTION"))
      return { faults: [tooDeep(depth, tooDeepAt(text, depth))] };
    const faults = errors.slice(0, MAX_FAULTS).map((error) => syntaxFault(error, text));
    return { faults: firstOfEachLine(faults, text) };
  } catch (error) {
    // The same, thrown where the parser does not expect it.
    if (error instanceof RangeError) return { faults: [tooDeep(depth, tooDeepAt(text, depth))] };
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const OPTIONS = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "silent" } as const;

/** Faults after the first few are usually consequences of them. */
const MAX_FAULTS = 10;

// The parser's own messages quote the text and are never shown.
function syntaxFault({ code, message, pos: [at] }: YAMLError, text: string): Fault {
  const { offset, summary, detail } = likelyMistake({ code, message, offset: at }, text);
  return fault(offset, code === "TAG_RESOLVE_FAILED" ? "tag" : "syntax", `not valid YAML: ${summary}`, detail);
}

// Later faults on the same line are consequences of the first, as are many after an open bracket.
function firstOfEachLine(faults: readonly Fault[], text: string): readonly Fault[] {
  const positionAt = lineFinder(text);
  return [...new Map(faults.toReversed().map((each) => [positionAt(each.offset).line, each])).values()].toReversed();
}

// About where a text is nested deeper than that, since the parser does not tell: quotation marks are not looked at.
function tooDeepAt(text: string, depth: number): number {
  const columns: number[] = [];
  let brackets = 0;
  for (const { 0: line, index } of text.matchAll(/.+/g)) {
    const [, indent = "", dashes = ""] = /^( *)((?:- +)*)/.exec(line) ?? [];
    if (brackets === 0) {
      while ((columns.at(-1) ?? -1) >= indent.length) columns.pop();
      columns.push(indent.length);
      for (const { index: column } of dashes.matchAll(/- +/g)) {
        if (columns.push(indent.length + column + 2) > depth) return index + indent.length + column;
      }
    }
    for (let at = indent.length + dashes.length; at < line.length; at += 1) {
      const mark = line.charAt(at);
      if (mark === "[" || mark === "{") brackets += 1;
      else if (mark === "]" || mark === "}") brackets -= 1;
      if (columns.length + brackets > depth) return index + at;
    }
  }
  return 0;
}
