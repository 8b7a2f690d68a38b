import type { Json } from "../../contract/json.ts";
import type { Limits } from "../limits.ts";
import { outlineAgain, type ParsedDocument, type ParsedFile, type ReadBy } from "./document.ts";
import type { Fault } from "./fault.ts";
import type { Outline } from "./outline.ts";
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
  readonly read: Again | { readonly by: "exact"; readonly outline: Outline | null };
};

/** A parser that can be asked again here. */
type Again = { readonly by: Exclude<ReadBy, "exact"> };

/** Makes a parsed file ready to cross. */
export function pack({ faults, documents }: ParsedFile): PackedFile {
  return { faults, documents: documents.map(packDocument) };
}

function packDocument({ value, chunk, readBy, outline, ...rest }: ParsedDocument): PackedDocument {
  const { faults, offset, hasCredentials } = rest;
  return {
    faults,
    offset,
    hasCredentials,
    value: JSON.stringify(value),
    from: chunk.offset,
    to: chunk.offset + chunk.text.length,
    isExplicit: chunk.isExplicit,
    read: readBy === "exact" ? { by: readBy, outline: outline() } : { by: readBy },
  };
}

/** The parsed file again, beside the bytes that it was read from. */
export function unpack({ faults, documents }: PackedFile, bytes: Uint8Array, limits: Limits): ParsedFile {
  const { text } = decode(bytes);
  return { text, faults, documents: documents.map((document) => unpackDocument(document, text, limits)) };
}

function unpackDocument(packed: PackedDocument, text: string, limits: Limits): ParsedDocument {
  const { faults, offset, hasCredentials, from, to, isExplicit, read } = packed;
  const chunk: Chunk = { text: text.slice(from, to), offset: from, isExplicit };
  const value = lazily(packed.value);
  return {
    faults,
    offset,
    hasCredentials,
    chunk,
    readBy: read.by,
    get value() {
      return value();
    },
    outline: () => (read.by === "exact" ? read.outline : outlineAgain(chunk, read.by, limits)),
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
