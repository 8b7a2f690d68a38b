import type { Json } from "../../contract/json.ts";
import { decode } from "../decode-text.ts";
import type { ParsedDocument, ParsedFile } from "../document.ts";
import { offsetsOfPlain } from "../fast/read-plain.ts";
import type { Fault } from "../fault.ts";
import { type FieldOffsets, limitFieldOffsets } from "../field-offsets.ts";
import type { YamlLimits } from "../limits.ts";
import type { Respelling } from "../respelling.ts";

/** A parsed file for transfer from a worker. The text is not transferred. */
export type PackedFile = { readonly faults: readonly Fault[]; readonly documents: readonly PackedDocument[] };

type PackedDocument = Pick<ParsedDocument, "faults" | "offset" | "hasCredentials" | "readBy"> & {
  readonly respellings: readonly Respelling[];
  /** As JSON, which is faster to transfer than an object. */
  readonly value: string;
  readonly from: number;
  readonly to: number;
  readonly isExplicit: boolean;
  /** Null when there is none, or it can be recomputed quickly. */
  readonly fieldOffsets: FieldOffsets | null;
};

/** Packs a parsed file for transfer. */
export function pack({ faults, documents }: ParsedFile, limits: YamlLimits): PackedFile {
  return { faults, documents: documents.map((document) => packDocument(document, limits)) };
}

function packDocument(
  { value, chunk, fieldOffsets, respellings, ...rest }: ParsedDocument,
  limits: YamlLimits,
): PackedDocument {
  const { faults, offset, hasCredentials, readBy } = rest;
  const found = readBy === "exact" ? fieldOffsets() : null;
  return {
    faults,
    offset,
    hasCredentials,
    respellings: respellings(),
    value: JSON.stringify(value),
    from: chunk.offset,
    to: chunk.offset + chunk.text.length,
    isExplicit: chunk.isExplicit,
    readBy,
    // A structure that is nested too deeply cannot be received from a process.
    fieldOffsets: found && limitFieldOffsets(found, limits),
  };
}

/** Restores a parsed file from its bytes and the transferred data. */
export function unpack({ faults, documents }: PackedFile, bytes: Uint8Array, limits: YamlLimits): ParsedFile {
  const { text } = decode(bytes);
  return { text, faults, documents: documents.map((document) => unpackDocument(document, text, limits)) };
}

function unpackDocument(packed: PackedDocument, text: string, limits: YamlLimits): ParsedDocument {
  const { faults, offset, hasCredentials, from, to, isExplicit, readBy, fieldOffsets, respellings } = packed;
  const chunk = { text: text.slice(from, to), offset: from, isExplicit };
  // A document that could not be read has no offsets.
  const isUnread = packed.value === "null" && faults.length > 0;
  return {
    faults,
    offset,
    hasCredentials,
    chunk,
    readBy,
    respellings: () => respellings,
    // Our own JSON, serialised by `pack` from a checked value.
    value: JSON.parse(packed.value) as Json,
    fieldOffsets: () => (readBy === "exact" || isUnread ? fieldOffsets : offsetsOfPlain(chunk, limits)),
  };
}
