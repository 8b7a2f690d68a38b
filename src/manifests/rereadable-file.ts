import { isObject, type JsonObject } from "../contract/json.ts";
import type { Position } from "../model/position.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf, type ParsedDocument, type ReadOptions } from "../yaml/document.ts";
import { type Locate, lineFinder, locator } from "../yaml/locator.ts";
import { readPlainYaml } from "../yaml/read-yaml.ts";
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
 * read once for all that stands in it.
 */
export class RereadableFile {
  readonly #file: SourceFile;
  readonly #limits: Limits;
  #known: Parsed | null = null;
  #given = 0;

  constructor(file: SourceFile, limits: Limits) {
    this.#file = file;
    this.#limits = limits;
  }

  /** The value of a document; fails where the file has changed since. */
  value(index: number): JsonObject {
    const { documents } = this.#parsed();
    const value = documents[index]?.value ?? null;
    this.#given += 1;
    // Whoever has read them all has no more need of the file.
    if (this.#given % documents.length === 0) this.#known = null;
    if (!isObject(value)) throw new TypeError(`${this.#file.display} does not hold what it held`);
    return value;
  }

  /** Finds fields of a document; `line` is where it starts, should its file be another by then. */
  locate(index: number, line: number): Locate {
    return (pointer, at) => locateIn(() => this.#parsed(), { index, line })(pointer, at);
  }

  #parsed(): Parsed {
    this.#known ??= parse(this.#file, this.#limits);
    return this.#known;
  }
}

type Parsed = { readonly documents: readonly ParsedDocument[]; readonly positionAt: (offset: number) => Position };

function parse(file: SourceFile, limits: Limits): Parsed {
  const parsed = readPlainYaml(file.bytes(), readOptionsOf(file, limits));
  return { documents: parsed?.documents ?? [], positionAt: lineFinder(parsed?.text ?? "") };
}

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
