import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import type { Position } from "../model/position.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf, type ParsedDocument, type ReadOptions } from "../yaml/document.ts";
import { type Locate, lineFinder, locator } from "../yaml/locator.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { worthReading } from "./detect-manifest.ts";

/** Whether a file's documents can be read again so: by the fast reader alone. */
export function isPlain(documents: readonly ParsedDocument[]): boolean {
  return documents.every(({ readBy }) => readBy === "fast");
}

/** How a file's documents are read. */
export function readOptionsOf({ path }: Pick<SourceFile, "path">, limits: Limits): ReadOptions {
  return { format: formatOf(path) ?? "yaml", limits, worthy: worthReading };
}

/**
 * A file of plain YAML, which the fast reader can read again to the same end: what few runs look at is not held. It is
 * read once for all of its values, and once for all of its positions.
 */
export class RereadableFile {
  readonly #file: SourceFile;
  readonly #limits: Limits;
  #values: readonly Json[] | null = null;
  #parsed: Parsed | null = null;

  constructor(file: SourceFile, limits: Limits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** The value of a document; fails where the file has changed since. */
  value(index: number): JsonObject {
    // Without the text, which is most of what is parsed.
    this.#values ??= this.#parse().documents.map(({ value }) => value);
    const value = this.#values[index];
    if (!isObject(value)) throw new TypeError(`${this.#file.display} does not hold what it held`);
    return value;
  }

  /** Finds fields of a document; `line` is where it starts, should its file be another by then. */
  locate(index: number, line: number): Locate {
    const parsed = (): Parsed => {
      this.#parsed ??= this.#parse();
      return this.#parsed;
    };
    return (pointer, at) => locateIn(parsed, { index, line })(pointer, at);
  }

  #parse(): Parsed {
    const parsed = readYaml(this.#file.bytes(), readOptionsOf(this.#file, this.#limits), null);
    return { documents: parsed?.documents ?? [], positionAt: lineFinder(parsed?.text ?? "") };
  }
}

type Parsed = { readonly documents: readonly ParsedDocument[]; readonly positionAt: (offset: number) => Position };

// A report is worth more than the exact place: where the file has changed meanwhile, the document's beginning will do.
function locateIn(parsed: () => Parsed, { index, line }: { readonly index: number; readonly line: number }): Locate {
  try {
    const { documents, positionAt } = parsed();
    const document = documents[index];
    if (document !== undefined) return locator(document, positionAt);
  } catch {
    // Said by whoever needs its content.
  }
  return () => ({ line, column: 1 });
}
