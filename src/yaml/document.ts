import type { Json } from "../contract/json.ts";
import { build, type Room } from "./build.ts";
import { isDelicate } from "./delicate.ts";
import { type Plain, readPlain } from "./fast/read.ts";
import { type Fault, fault } from "./fault.ts";
import { type Looks, looksOf } from "./invisible.ts";
import { parseFast } from "./js-yaml.ts";
import { parseJson } from "./json.ts";
import { TEMPLATE } from "./likely-mistake.ts";
import type { YamlLimits } from "./limits.ts";
import { type Outline, outlineOf } from "./outline.ts";
import { type Chunk, splitDocuments } from "./split.ts";
import type { Parsed } from "./stream.ts";
import { decode } from "./text.ts";

/** One document of a file. Offsets count from the start of the file's text. */
export type ParsedDocument = {
  /** Null when the document is empty, or could not be read at all. */
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** Where its content starts. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format. */
  readonly hasCredentials: boolean;
  readonly chunk: Chunk;
  /** Which parser's nodes it was built from. */
  readonly readBy: ReadBy;
  /** Where its fields stand, read from the text again; null when it cannot be read. */
  readonly outline: () => Outline | null;
};

/** Who read a document. */
export type ReadBy = "fast" | "exact" | "json";

/** What a file holds. A file that is no text has faults and no documents. */
export type ParsedFile = {
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly documents: readonly ParsedDocument[];
};

/** How a file is to be read, by its name. */
export type Format = "yaml" | "json";

/** The format of a manifest file, or null for any other file. */
export function formatOf(path: string): Format | null {
  const ending = /\.(ya?ml|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return null;
  return ending === "json" ? "json" : "yaml";
}

/** By what rules a file is read: plain data, which a worker can be given. */
export type Reading = {
  readonly format: Format;
  readonly limits: YamlLimits;
  /** What a text must match to be worth an exact look: most of what fails to parse in a repository is not ours. */
  readonly worthy: RegExp | null;
};

/** The exact parser; null for a text that it cannot be trusted with. */
export type ExactLook = (text: string) => Parsed | null;

/**
 * Parses the bytes of one file: pure, bounded by the limits, and never throws. Null when a document needs the exact look
 * and there is none.
 */
export function parseFile(bytes: Uint8Array, reading: Reading, look: ExactLook | null): ParsedFile | null {
  const decoded = decode(bytes);
  if ("fault" in decoded) return { text: decoded.text, faults: [decoded.fault], documents: [] };
  const { text, isSimple } = decoded;
  const looks = looksOf(text, isSimple);
  const { format, limits } = reading;
  if (format === "json") {
    const chunk = { text, offset: 0, isExplicit: false };
    const document = finish(chunk, parseJson(text, limits.depth), "json", { ...looks, limits, room: { left: 0 } });
    return { text, faults: [], documents: document === null ? [] : [document] };
  }
  const directive = directiveFault(text);
  if (directive !== null) return { text, faults: [directive], documents: [] };
  const chunks = splitDocuments(text);
  if (chunks.length > limits.documents) return { text, faults: [tooMany(chunks, limits)], documents: [] };
  const documents = readChunks(chunks, reading, look, { ...looks, simple: isSimple ? bytes : null });
  return documents === null ? null : { text, faults: [], documents };
}

/** Characters of broken text that get an exact look in one file: there can be a fault in each. */
const MOST_BROKEN = 64 * 1024;

/** A file's characters; with its bytes, where each is one. */
type Characters = Looks & { readonly simple: Uint8Array | null };

function readChunks(
  chunks: readonly Chunk[],
  { limits, worthy }: Reading,
  look: ExactLook | null,
  { isOdd, isPlain, simple }: Characters,
): readonly ParsedDocument[] | null {
  const documents: ParsedDocument[] = [];
  const room: Room = { left: limits.fileBytes };
  let broken = MOST_BROKEN;
  for (const chunk of chunks) {
    const { text } = chunk;
    const plain = isPlain ? readPlain(chunk, simple, limits) : null;
    if (plain !== null) {
      documents.push(faultless(chunk, plain, limits));
      continue;
    }
    const fast = parseFast(text, limits.depth);
    const doubt = doubtOf(fast, text);
    const isWorthIt = doubt !== null && (worthy?.test(text) ?? true) && (doubt === "delicate" || text.length <= broken);
    if (isWorthIt && look === null) return null;
    if (isWorthIt && doubt === "broken") broken -= text.length;
    const exact = isWorthIt && look !== null ? look(text) : null;
    const ours = finish(chunk, fast, "fast", { limits, isOdd, room: exact === null ? room : { ...room } });
    const document = exact === null ? ours : agreed(ours, finish(chunk, exact, "exact", { limits, isOdd, room }));
    if (document !== null) documents.push(document);
  }
  return documents;
}

/** Why the fast parser's word may not be the last one. */
export function doubtOf(fast: Parsed, text: string): "broken" | "delicate" | null {
  if ("faults" in fast) return fast.faults[0]?.code === "too-deep" ? null : "broken";
  return fast.stream !== null && isDelicate(text, fast.stream) ? "delicate" : null;
}

// Where both read the same, the fast parser's nodes are kept: they can be had again without another exact look.
function agreed(ours: ParsedDocument | null, exact: ParsedDocument | null): ParsedDocument | null {
  const isSame = ours !== null && exact !== null && ours.faults.length === 0 && exact.faults.length === 0;
  return isSame && JSON.stringify(ours.value) === JSON.stringify(exact.value) ? ours : exact;
}

// As the fast parser would have read it, who can be asked for where its fields stand.
function faultless(chunk: Chunk, { value, offset, hasCredentials }: Plain, limits: YamlLimits): ParsedDocument {
  const outline = outlineLater(chunk, "fast", limits);
  return { value, faults: [], offset: chunk.offset + offset, hasCredentials, chunk, readBy: "fast", outline };
}

type Manner = { readonly limits: YamlLimits; readonly isOdd: boolean; readonly room: Room };

function finish(chunk: Chunk, parsed: Parsed, readBy: ReadBy, { limits, isOdd, room }: Manner): ParsedDocument | null {
  const { offset, isExplicit } = chunk;
  const shift = ({ other, ...found }: Fault): Fault => {
    const shifted = { ...found, offset: Math.max(0, found.offset) + offset };
    return other === undefined ? shifted : { ...shifted, other: Math.max(0, other) + offset };
  };
  const empty = { value: null, offset, hasCredentials: false, chunk, readBy, outline: () => null };
  if ("faults" in parsed) return { ...empty, faults: parsed.faults.map(shift) };
  if (parsed.stream === null) return isExplicit ? { ...empty, faults: [] } : null;
  const built = build(parsed.stream, limits, { looksOdd: isOdd, room });
  return {
    ...empty,
    value: built.value,
    faults: built.faults.map((found) => shift(isTemplate(found, chunk.text) ? { ...found, ...TEMPLATE } : found)),
    offset: offset + Math.max(0, built.offset),
    hasCredentials: built.hasCredentials,
    outline: outlineReader(chunk, parsed, readBy, limits),
  };
}

// Two opening brackets are a mapping as the key of another: nobody means that.
function isTemplate({ code, offset }: Fault, text: string): boolean {
  return code === "key" && text.startsWith("{{", offset - 1);
}

function outlineReader(chunk: Chunk, parsed: Parsed, readBy: ReadBy, limits: YamlLimits): () => Outline | null {
  return readBy === "exact" ? outlineKept(parsed, chunk) : outlineLater(chunk, readBy, limits);
}

function outlineKept(parsed: Parsed, chunk: Chunk): () => Outline | null {
  return () => outline(parsed, chunk);
}

// Apart from the other, since functions made in one place keep alive what either of them needs: all the nodes.
function outlineLater(chunk: Chunk, readBy: Exclude<ReadBy, "exact">, limits: YamlLimits): () => Outline | null {
  return () => outlineAgain(chunk, readBy, limits);
}

/** Reads a document once more, for where its fields stand. */
export function outlineAgain(chunk: Chunk, readBy: "fast" | "json", { depth }: YamlLimits): Outline | null {
  return outline(readBy === "json" ? parseJson(chunk.text, depth) : parseFast(chunk.text, depth), chunk);
}

function outline(parsed: Parsed, { offset }: Chunk): Outline | null {
  return "faults" in parsed || parsed.stream === null ? null : outlineOf(parsed.stream, offset);
}

function directiveFault(text: string): Fault | null {
  if (!text.includes("%")) return null;
  const at = text.startsWith("%") ? 0 : text.indexOf("\n%") + 1;
  if (at === 0 && !text.startsWith("%")) return null;
  return fault(
    at,
    "directive",
    "a YAML directive",
    "Remove the line that starts with `%`: manifests are YAML 1.2 without directives.",
  );
}

function tooMany(chunks: readonly Chunk[], { documents }: YamlLimits): Fault {
  const offset = chunks[documents]?.offset ?? 0;
  return fault(offset, "too-many-documents", `more than ${documents} documents in one file`, "Split the file.");
}
