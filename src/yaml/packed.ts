import type { Json } from "../contract/json.ts";
import { outlineAgain, type ParsedDocument, type ParsedFile, type ReadBy } from "./document.ts";
import type { Fault } from "./fault.ts";
import type { YamlLimits } from "./limits.ts";
import { type Outline, shallow } from "./outline.ts";
import type { Chunk } from "./split.ts";
import { decode } from "./text.ts";

/** A parsed file as it crosses from a worker: the text stays where it is, and values are read only when asked for. */
export type PackedFile = { readonly faults: readonly Fault[]; readonly documents: readonly PackedDocument[] };

type PackedDocument = Pick<ParsedDocument, "faults" | "offset" | "hasCredentials"> & {
  /** As JSON, which is quicker to cross with than an object. */
  readonly value: string;
  readonly from: number;
  readonly to: number;
  readonly isExplicit: boolean;
  readonly readBy: ReadBy;
  /** Undefined where it can be had again in no time by whoever asks for it. */
  readonly outline: Outline | null | undefined;
};

/** Characters of a document that is quickly read once more. */
const SHORT = 16 * 1024;

/** Makes a parsed file ready to cross. */
export function pack({ faults, documents }: ParsedFile, { nodes }: YamlLimits): PackedFile {
  return { faults, documents: documents.map((document) => packDocument(document, nodes)) };
}

function packDocument({ value, chunk, readBy, outline, ...rest }: ParsedDocument, nodes: number): PackedDocument {
  const { faults, offset, hasCredentials } = rest;
  return {
    faults,
    offset,
    hasCredentials,
    value: JSON.stringify(value),
    from: chunk.offset,
    to: chunk.offset + chunk.text.length,
    isExplicit: chunk.isExplicit,
    readBy,
    outline: readBy === "exact" || chunk.text.length > SHORT ? bounded(outline(), nodes) : undefined,
  };
}

function bounded(outline: Outline | null, nodes: number): Outline | null {
  return outline === null ? null : shallow(outline, nodes);
}

/** The parsed file again, beside the bytes that it was read from. */
export function unpack({ faults, documents }: PackedFile, bytes: Uint8Array, limits: YamlLimits): ParsedFile {
  const { text } = decode(bytes);
  return { text, faults, documents: documents.map((document) => unpackDocument(document, text, limits)) };
}

function unpackDocument(packed: PackedDocument, text: string, limits: YamlLimits): ParsedDocument {
  const { faults, offset, hasCredentials, from, to, isExplicit, readBy, outline } = packed;
  const chunk: Chunk = { text: text.slice(from, to), offset: from, isExplicit };
  const value = lazily(packed.value);
  return {
    faults,
    offset,
    hasCredentials,
    chunk,
    readBy,
    get value() {
      return value();
    },
    outline: () =>
      outline === undefined && readBy !== "exact" ? outlineAgain(chunk, readBy, limits) : (outline ?? null),
  };
}

// Ours, made a moment ago from what is checked to be JSON.
function lazily(text: string): () => Json {
  let value: Json | undefined;
  return () => {
    if (value === undefined) value = JSON.parse(text) as Json;
    return value;
  };
}
