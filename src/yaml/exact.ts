import { CHOMPING_MODE, COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE, type ScalarStyle } from "js-yaml";
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type Fault, fault } from "./fault.ts";
import { slipBehind } from "./likely-mistake.ts";
import { lineFinder } from "./line-finder.ts";
import { bracketDepth } from "./nesting.ts";
import type { Parsed, Stream } from "./stream.ts";

/** Texts beyond this many characters, or with brackets this deep inside each other, would take too long. */
const LONGEST = 256 * 1024;
const DEEPEST = 1000;

/**
 * Reads one document with `yaml`: slower, and the authority where the two parsers differ. Null when the text is not
 * one that it can be trusted with.
 */
export function parseExact(text: string): Parsed | null {
  if (text.length > LONGEST || bracketDepth(text) > DEEPEST) return null;
  const { stackTraceLimit } = Error;
  // The parser makes an error object for every fault; their stack traces would cost more than the parsing.
  Error.stackTraceLimit = 0;
  try {
    return parsed(parseDocument(text, OPTIONS), text);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const OPTIONS = { schema: "failsafe", uniqueKeys: false, prettyErrors: false, logLevel: "silent" } as const;

/** Faults beyond the first few follow from them. */
const MOST_FAULTS = 10;

function parsed(document: Document, text: string): Parsed {
  if (document.errors.length > 0) {
    const faults = document.errors.slice(0, MOST_FAULTS).map((error) => syntaxFault(error, text));
    return { faults: firstOfEachLine(faults, text) };
  }
  return { stream: document.contents === null ? null : streamOf(document) };
}

type Properties = { readonly text: string; readonly tag: string; readonly anchor: string };

function streamOf(document: Document): Stream {
  const events: Event[] = [{ type: EVENT_ID.DOCUMENT, explicitStart: false, explicitEnd: false, directives: [] }];
  const properties = new Map<Event, Properties>();
  const push = (event: Event, found: Partial<Properties>) => {
    events.push(event);
    properties.set(event, { text: "", tag: "", anchor: "", ...found });
  };
  emit(document.contents, push);
  const of = (event: Event) => properties.get(event);
  return {
    events,
    text: (event) => of(event)?.text ?? "",
    tag: (event) => of(event)?.tag ?? "",
    anchor: (event) => of(event)?.anchor ?? "",
  };
}

type Push = (event: Event, properties: Partial<Properties>) => void;

function emit(node: unknown, push: Push): void {
  if (isScalar(node)) push(scalarEvent(node), { ...marks(node), text: node.source ?? "" });
  else if (isAlias(node)) push(aliasEvent(node), { anchor: node.source });
  else if (isPair(node)) {
    emit(node.key, push);
    emit(node.value, push);
  } else if (isMap(node) || isSeq(node)) {
    push(collectionEvent(node), marks(node));
    for (const item of node.items) emit(item, push);
    push({ type: EVENT_ID.POP }, {});
  } else push(emptyScalar(), {});
}

function aliasEvent({ source, range }: Alias): Event {
  const start = (range?.[0] ?? 0) + 1;
  return { type: EVENT_ID.ALIAS, anchorStart: start, anchorEnd: start + source.length };
}

function collectionEvent(node: YAMLMap | YAMLSeq): Event {
  const type = isMap(node) ? EVENT_ID.MAPPING : EVENT_ID.SEQUENCE;
  return {
    type,
    ...propertyOffsets(node),
    start: node.range?.[0] ?? 0,
    style: node.flow ? COLLECTION_STYLE.FLOW : COLLECTION_STYLE.BLOCK,
  };
}

type Marked = {
  readonly tag?: string | undefined;
  readonly anchor?: string | undefined;
  readonly range?: readonly [number, number, number] | null | undefined;
};

function marks({ tag = "", anchor = "" }: Marked): Partial<Properties> {
  return { tag, anchor };
}

// The parser does not tell where properties stand: the node's own start stands in.
function propertyOffsets({ tag, anchor, range }: Marked) {
  const start = range?.[0] ?? 0;
  const [tagAt, anchorAt] = [tag ? start : -1, anchor ? start + 1 : -1];
  return { tagStart: tagAt, tagEnd: tagAt, anchorStart: anchorAt, anchorEnd: anchorAt };
}

const STYLES: { readonly [type: string]: ScalarStyle } = {
  PLAIN: SCALAR_STYLE.PLAIN,
  QUOTE_SINGLE: SCALAR_STYLE.SINGLE_QUOTED,
  QUOTE_DOUBLE: SCALAR_STYLE.DOUBLE_QUOTED,
  BLOCK_LITERAL: SCALAR_STYLE.LITERAL_BLOCK,
  BLOCK_FOLDED: SCALAR_STYLE.FOLDED_BLOCK,
};

function scalarEvent(node: Scalar) {
  const style = STYLES[node.type ?? "PLAIN"] ?? SCALAR_STYLE.PLAIN;
  const isQuoted = style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
  const isEmpty = style === SCALAR_STYLE.PLAIN && node.source === "";
  const start = isEmpty ? -1 : (node.range?.[0] ?? 0) + (isQuoted ? 1 : 0);
  return { ...emptyScalar(), ...propertyOffsets(node), valueStart: start, valueEnd: start, style };
}

function emptyScalar() {
  return {
    type: EVENT_ID.SCALAR,
    valueStart: -1,
    valueEnd: -1,
    tagStart: -1,
    tagEnd: -1,
    anchorStart: -1,
    anchorEnd: -1,
    style: SCALAR_STYLE.PLAIN,
    chomping: CHOMPING_MODE.CLIP,
    indent: -1,
    fast: true,
  } as const;
}

// Its own messages quote the text and are never shown.
function syntaxFault({ code, message, pos: [at] }: YAMLError, text: string): Fault {
  const { offset, summary, detail } = slipBehind({ code, message, offset: at }, text);
  return fault(offset, code === "TAG_RESOLVE_FAILED" ? "tag" : "syntax", `not valid YAML: ${summary}`, detail);
}

// What comes later in the same line is a consequence of the first, and so is much of what comes after an open bracket.
function firstOfEachLine(faults: readonly Fault[], text: string): readonly Fault[] {
  const positionAt = lineFinder(text);
  return [...new Map(faults.toReversed().map((each) => [positionAt(each.offset).line, each])).values()].toReversed();
}
