import { decode } from "./decode-text.ts";
import { faultyDocument, type ParsedDocument, type ParsedFile, type ReadOptions } from "./document.ts";
import { afterSpaces, endOfLine, HASH, LINE_FEED } from "./fast/characters.ts";
import { offsetsOfPlain, type Plain, type Refused, readPlain, respellingsOfPlain } from "./fast/read-plain.ts";
import { type Fault, fault } from "./fault.ts";
import { jsonFault } from "./json-fault.ts";
import type { YamlLimits } from "./limits.ts";
import { traitsOf } from "./misleading-characters.ts";
import { noRespellings } from "./respelling.ts";
import { type Chunk, splitDocuments } from "./split-documents.ts";

/** Reads a document that the fast reader cannot read; null when it turns out to be no document. */
export type ExactReader = (chunk: Chunk) => ParsedDocument | null;

/** Creates the exact reader for one file; with `checksText`, every string is checked for misleading characters. */
export type ExactReaderOf = (limits: YamlLimits, checksText: boolean) => ExactReader;

/** Parses one file: pure, bounded by the limits, never throws. Null if it needs the exact reader and none is given. */
export function parseFile(bytes: Uint8Array, options: ReadOptions, exactOf: ExactReaderOf | null): ParsedFile | null {
  const decoded = decode(bytes);
  if ("fault" in decoded) return { text: decoded.text, faults: [decoded.fault], documents: [] };
  const { text, isSimple } = decoded;
  const { format, limits } = options;
  const whole: Chunk = { text, offset: 0, isExplicit: false };
  const refused = format === "json" ? jsonFault(text, limits.depth) : null;
  if (refused !== null) return { text, faults: [], documents: [faultyDocument(whole, [refused])] };
  const chunks = format === "json" ? [whole] : splitDocuments(text);
  const found = format === "json" ? null : (directiveFault(text) ?? tooManyDocuments(chunks, limits));
  if (found !== null) return { text, faults: [found], documents: [] };
  const { isOdd, isPlain } = traitsOf(text, isSimple);
  const exact = exactOf?.(limits, isOdd) ?? null;
  const documents: ParsedDocument[] = [];
  for (const chunk of chunks) {
    const plain = isPlain ? readPlain(chunk, isSimple ? bytes : null, limits) : null;
    const document = plain === null ? unlessExact(chunk, options) : readDocument(chunk, plain, limits);
    if (document === "exact" && exact === null) return null;
    const read = document === "exact" ? exact?.(chunk) : document;
    if (read) documents.push(read);
  }
  return { text, faults: [], documents };
}

/** The exact reader takes more than a second for twice this length. */
const MAX_EXACT_LENGTH = 256 * 1024;

// Handles a document that is not plain YAML, as far as possible without the exact reader.
function unlessExact(chunk: Chunk, { worthy }: ReadOptions): ParsedDocument | "exact" | null {
  const { text, offset, isExplicit } = chunk;
  if (isBlank(text)) return isExplicit ? faultyDocument(chunk, []) : null;
  if (worthy?.test(text) === false) return faultyDocument(chunk, [fault(offset, "not-read", "not plain YAML")]);
  if (text.length <= MAX_EXACT_LENGTH) return "exact";
  const summary = `larger than ${MAX_EXACT_LENGTH / 1024} KiB, and not plain YAML`;
  return faultyDocument(chunk, [fault(offset, "too-large", summary, "Split it, or write it more simply.")]);
}

// Whether a chunk has only spaces, comments and the opening marker.
function isBlank(text: string): boolean {
  for (let start = text.startsWith("---") ? 3 : 0; start < text.length; ) {
    const at = afterSpaces(text, start);
    const code = text.charCodeAt(at);
    if (at < text.length && code !== LINE_FEED && code !== HASH) return false;
    start = endOfLine(text, at) + 1;
  }
  return true;
}

function readDocument(chunk: Chunk, read: Plain | Refused, limits: YamlLimits): ParsedDocument {
  if ("fault" in read) return faultyDocument(chunk, [moved(read.fault, chunk.offset)]);
  const { value, hasCredentials, isRespelt } = read;
  const faults = read.faults.map((one) => moved(one, chunk.offset));
  const offset = chunk.offset + read.offset;
  const fieldOffsets = offsetsLater(chunk, limits);
  const respellings = isRespelt ? respellingsLater(chunk, limits) : noRespellings;
  return { value, faults, offset, hasCredentials, chunk, readBy: "fast", fieldOffsets, respellings };
}

function moved(found: Fault, by: number): Fault {
  const { offset, other } = found;
  return { ...found, offset: offset + by, ...(other === undefined ? {} : { other: other + by }) };
}

// Functions of their own, since closures created in one scope keep alive everything that any of them uses.
function respellingsLater(chunk: Chunk, limits: YamlLimits): ParsedDocument["respellings"] {
  return () => respellingsOfPlain(chunk, limits);
}

function offsetsLater(chunk: Chunk, limits: YamlLimits): ParsedDocument["fieldOffsets"] {
  return () => offsetsOfPlain(chunk, limits);
}

function directiveFault(text: string): Fault | null {
  const at = text.startsWith("%") ? 0 : text.indexOf("\n%") + 1;
  if (at === 0 && !text.startsWith("%")) return null;
  const detail = "Remove the line that starts with `%`: manifests are YAML 1.2 without directives.";
  return fault(at, "directive", "a YAML directive", detail);
}

function tooManyDocuments(chunks: readonly Chunk[], { documents }: YamlLimits): Fault | null {
  const first = chunks[documents];
  if (first === undefined) return null;
  return fault(first.offset, "too-many-documents", `more than ${documents} documents in one file`, "Split the file.");
}
