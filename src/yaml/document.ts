import type { Json } from "../contract/json.ts";
import type { Fault } from "./fault.ts";
import type { FieldOffsets } from "./field-offsets.ts";
import type { YamlLimits } from "./limits.ts";
import type { Chunk } from "./split-documents.ts";

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
  readonly readBy: "fast" | "exact";
  /** Where its fields stand, read from the text again; null when it cannot be read. */
  readonly fieldOffsets: () => FieldOffsets | null;
};

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
export type ReadOptions = {
  readonly format: Format;
  readonly limits: YamlLimits;
  /** What a document must match to be worth the exact reader: most of what is not plain in a repository is not ours. */
  readonly worthy: RegExp | null;
};

/** A document that has faults and no value. */
export function faultyDocument(chunk: Chunk, faults: readonly Fault[]): ParsedDocument {
  const { offset } = chunk;
  return { value: null, faults, offset, hasCredentials: false, chunk, readBy: "fast", fieldOffsets: () => null };
}
