import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Manifest, ManifestHead } from "../core/manifest.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf, type ParsedDocument, type ReadOptions } from "../yaml/document.ts";
import { type Locate, lineFinder, locator, type Position } from "../yaml/locator.ts";
import { type ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { worthReading } from "./detect-manifest.ts";

/** A declared resource whose file was recognised by its content and not parsed. */
export type UnparsedManifest = ManifestHead & {
  /** Reads the file and parses it; fails if it has changed since. */
  readonly read: (reading: Rereading) => Promise<JsonObject>;
};

/** A declared resource without its value; `locate` finds where its fields stand. */
export type SourceHead = ManifestHead & {
  readonly locate: LocateField;
  /** What patches have made of it; absent if none matches it. */
  readonly patched?: PatchedManifest;
};

/** What is known of a manifest that patches match. */
export type PatchedManifest = {
  /** Where the last of the patches stands. */
  readonly place: FieldPlace;
  /** Reads what the manifest would be without them. */
  readonly unpatched: (reading: Rereading) => Promise<JsonObject>;
};

/** A declared resource, and the digest of the document that declares it; absent if the document has none. */
export type SourceManifest = SourceHead & (Manifest | UnparsedManifest) & { readonly digest?: string | undefined };

/** Whether a manifest has its value. */
export function isParsed<One extends ManifestHead>(manifest: One): manifest is One & Manifest {
  return "value" in manifest;
}

/** What reading a file again needs. */
export type Rereading = { readonly exact: ExactProcess; readonly signal: AbortSignal };

/** A position, and the file that it is in, as reports name it. */
export type FieldPlace = Position & { readonly file: string };

/** Finds where a field of a manifest stands by JSON Pointer: in its document, or in a patch. */
export type LocateField = (pointer: string, reading: Rereading, at?: "key" | "value") => Promise<FieldPlace>;

/** The same in texts that are in memory. */
export type LocatePlace = (pointer: string, at?: "key" | "value") => FieldPlace;

/** The places in the manifest of a document, by those in the document. */
export type PlacesThrough = (document: JsonObject, inDocument: LocatePlace) => LocatePlace;

/** The options for parsing a file. */
export function readOptionsOf({ path }: SourceFile, limits: Limits): ReadOptions {
  return { format: formatOf(path) ?? "yaml", limits, worthy: worthReading };
}

/**
 * A file whose text is not kept in memory. Values and positions that a pass needs are read from the file again, once
 * for all values and once for all positions.
 */
export class RereadableFile {
  readonly #file: SourceFile;
  readonly #limits: Limits;
  #values: readonly Json[] | null = null;
  #parsed: Parsed | null = null;
  #last: { readonly index: number; readonly through: PlacesThrough | null; readonly find: LocatePlace } | null = null;

  constructor(file: SourceFile, limits: Limits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** The value of a document; fails if the file has changed since. */
  async value(index: number, reading: Rereading): Promise<JsonObject> {
    // Only the values are kept: the text takes most of the memory of a parsed file.
    this.#values ??= (await this.#parse(reading)).documents.map(({ value }) => value);
    const value = this.#values[index];
    if (isObject(value)) return value;
    throw new HoldfastError("error", `${this.#file.display} could not be read again`, {
      hint: "run it again; if that does not help, split the file or write it more simply",
    });
  }

  /** Finds fields of the manifest whose document starts in this line; `through` is null if nothing patches it. */
  locate(index: number, line: number, through: PlacesThrough | null): LocateField {
    const file = this.#file.display;
    return async (pointer, reading, at) => {
      try {
        this.#parsed ??= await this.#parse(reading);
        const { documents, positionAt } = this.#parsed;
        const document = documents[index];
        if (document !== undefined) {
          // Fields of one document are located one after the other.
          if (this.#last?.index !== index || this.#last.through !== through) {
            const find = placesIn(file, locator(document, positionAt));
            const { value } = document;
            this.#last = { index, through, find: through === null || !isObject(value) ? find : through(value, find) };
          }
          return this.#last.find(pointer, at);
        }
      } catch {
        // A report without the exact position is better than none. A changed file is reported when its value is needed.
      }
      return { file, line, column: 1 };
    };
  }

  async #parse(reading: Rereading): Promise<Parsed> {
    const bytes = await this.#file.bytes(reading);
    const { documents, text } = await readYaml(bytes, readOptionsOf(this.#file, this.#limits), reading.exact);
    return { documents, positionAt: lineFinder(text) };
  }
}

/** The places that a locator of one file finds. */
export function placesIn(file: string, locate: Locate): LocatePlace {
  return (pointer, at) => ({ file, ...locate(pointer, at) });
}

type Parsed = { readonly documents: readonly ParsedDocument[]; readonly positionAt: (offset: number) => Position };
