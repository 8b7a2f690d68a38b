import type { Json } from "../contract/json.ts";
import type { Fault } from "./fault.ts";
import type { FieldOffsets } from "./field-offsets.ts";
import type { YamlLimits } from "./limits.ts";
import { noRespellings, type Respelling } from "./respelling.ts";
import type { Chunk } from "./split-documents.ts";

/** One document of a file. Offsets count from the start of the file's text. */
export type ParsedDocument = {
  /** Null when the document is empty or could not be read. */
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** The offset of its content. */
  readonly offset: number;
  /** Whether a text in it is in a known credential format, or contains a secret of a connection string. */
  readonly hasCredentials: boolean;
  readonly chunk: Chunk;
  readonly readBy: "fast" | "exact";
  /** The offsets of its fields, parsed from the text again; null when it cannot be read. */
  readonly fieldOffsets: () => FieldOffsets | null;
  /** Its numbers and booleans with another text than their value, parsed from the text again. */
  readonly respellings: () => readonly Respelling[];
};

/** The content of a file. A file that is not text has faults and no documents. */
export type ParsedFile = {
  readonly text: string;
  readonly faults: readonly Fault[];
  readonly documents: readonly ParsedDocument[];
};

/** The format of a file, by its name. */
export type Format = "yaml" | "json";

/** The format of a manifest file, or null for any other file. */
export function formatOf(path: string): Format | null {
  const ending = /\.(ya?ml|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (ending === undefined) return null;
  return ending === "json" ? "json" : "yaml";
}

/** Options for reading a file: plain data, so that they can be sent to a worker. */
export type ReadOptions = {
  readonly format: Format;
  readonly limits: YamlLimits;
  /** Pattern that a document must match before the exact reader is used: most non-plain documents are not ours. */
  readonly worthy: RegExp | null;
};

/** A document with faults and no value. */
export function faultyDocument(chunk: Chunk, faults: readonly Fault[]): ParsedDocument {
  const { offset } = chunk;
  const nothing = { value: null, hasCredentials: false, fieldOffsets: () => null, respellings: noRespellings };
  return { ...nothing, faults, offset, chunk, readBy: "fast" };
}
