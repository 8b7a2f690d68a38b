import { CHOMPING_MODE, COLLECTION_STYLE, EVENT_ID, type Event, SCALAR_STYLE, type ScalarStyle } from "js-yaml";
import {
  type Alias,
  type Document,
  type ErrorCode,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { type Fault, fault } from "./fault.ts";
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
    return parsed(parseDocument(text, OPTIONS));
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

function parsed(document: Document): Parsed {
  if (document.errors.length > 0) return { faults: document.errors.slice(0, MOST_FAULTS).map(syntaxFault) };
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

const QUOTE_IT = 'If it belongs to a text, put the text in "quotes".';

/** What each of the parser's error codes means to a person; its own messages quote the text and are never shown. */
const REASONS: { readonly [code in ErrorCode]?: readonly [summary: string, detail: string | null] } = {
  ALIAS_PROPS: ["an alias with a tag or anchor of its own", "An alias (`*name`) stands alone."],
  BAD_ALIAS: ["an anchor or alias without a name", QUOTE_IT],
  BAD_DIRECTIVE: ["a YAML directive", "Remove the line that starts with `%`."],
  BAD_DQ_ESCAPE: ["an unknown escape in a double-quoted string", "Use 'single quotes', or double the backslash."],
  BAD_INDENT: ["an indentation that fits nothing above", "Indent with the same number of spaces as its neighbours."],
  BAD_PROP_ORDER: ["a tag or anchor in the wrong place", "It stands directly before its value."],
  BAD_SCALAR_START: ["a character that no plain text starts with", 'Put the value in "quotes".'],
  BLOCK_AS_IMPLICIT_KEY: [
    "a mapping inside a line",
    "Is a `:` too many on the line? If it belongs to a text, quote the text.",
  ],
  BLOCK_IN_FLOW: ["an indented block inside brackets", "Inside `[…]` and `{…}` write `[…]` and `{…}`."],
  KEY_OVER_1024_CHARS: ["a key of more than 1,024 characters", null],
  MISSING_CHAR: [
    "a missing character: a quote, bracket, comma, colon or space",
    "Is a quote or bracket left open, or a space missing after `:` or `-`?",
  ],
  MULTILINE_IMPLICIT_KEY: ["a key over several lines", "Is a quote left open, or a `:` missing?"],
  MULTIPLE_ANCHORS: ["two anchors on one value", null],
  MULTIPLE_TAGS: ["two tags on one value", null],
  TAB_AS_INDENT: ["a tab where the indentation is", "Indent with spaces."],
  TAG_RESOLVE_FAILED: ["a tag that manifests do not have", null],
  UNEXPECTED_TOKEN: ["something that does not belong here", QUOTE_IT],
};

function syntaxFault({
  code,
  pos: [offset],
}: {
  readonly code: ErrorCode;
  readonly pos: readonly [number, number];
}): Fault {
  const [summary, detail] = REASONS[code] ?? ["not in the form of YAML", null];
  return fault(offset, code === "TAG_RESOLVE_FAILED" ? "tag" : "syntax", `not valid YAML: ${summary}`, detail);
}
