import { isObject, type JsonObject } from "../contract/json.ts";
import type { Position } from "../model/position.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf, type ParsedDocument, type ReadOptions } from "../yaml/document.ts";
import { type Locate, lineFinder, locator } from "../yaml/locator.ts";
import { readPlainYaml } from "../yaml/read-yaml.ts";
import { worthReading } from "./detect-manifest.ts";

/** A file of plain YAML, which the fast reader can read again to the same end: what few runs look at is not held. */
export type RereadableFile = {
  /** The value of a document; fails where the file has changed since. */
  readonly value: (index: number) => JsonObject;
  /** Finds fields of a document; `line` is where it starts, should its file be another by then. */
  readonly locate: (index: number, line: number) => Locate;
};

/** Whether a file's documents can be read again so: by the fast reader alone. */
export function isPlain(documents: readonly ParsedDocument[]): boolean {
  return documents.every(({ readBy }) => readBy === "fast");
}

/** How a file's documents are read. */
export function readOptionsOf({ path }: Pick<SourceFile, "path">, limits: Limits): ReadOptions {
  return { format: formatOf(path) ?? "yaml", limits, worthy: worthReading };
}

/** A file to read again, once for all that stands in it. */
export function plainFile(file: SourceFile, limits: Limits): RereadableFile {
  let known: Parsed | null = null;
  const parsed = (): Parsed => {
    known ??= parse(file, limits);
    return known;
  };
  return {
    value: (index) => {
      const value = parsed().documents[index]?.value ?? null;
      if (!isObject(value)) throw new TypeError(`${file.display} does not hold what it held`);
      return value;
    },
    locate: (index, line) => (pointer, at) => locateIn(parsed, { index, line })(pointer, at),
  };
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
