import { isObject, type JsonObject } from "../contract/json.ts";
import type { Position } from "../model/position.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf, type ParsedDocument, parseFile } from "../yaml/document.ts";
import { lineFinder } from "../yaml/line-finder.ts";
import { type Locate, locator } from "../yaml/locate.ts";
import { SMALL_BYTES } from "../yaml/read.ts";

/** A file whose documents can be read again, quickly and to the same end. */
export type Again = {
  readonly value: (index: number) => JsonObject;
  /** Finds fields of a document; `line` is where it starts, should its file be another by then. */
  readonly locate: (index: number, line: number) => Locate;
};

/** Whether a file's documents can be read again so: by the fast parsers alone, whose word was the last one. */
export function isReadable({ size }: SourceFile, documents: readonly ParsedDocument[]): boolean {
  return size <= SMALL_BYTES && documents.every(({ readBy }) => readBy !== "exact");
}

/** Reads a file again when first asked: what most runs do not look at is not kept. */
export function readAgain(file: SourceFile, limits: Limits): Again {
  let known: Found | null = null;
  const found = (): Found => {
    known ??= find(file, limits);
    return known;
  };
  return {
    value: (index) => {
      const value = found().documents[index]?.value ?? null;
      if (!isObject(value)) throw new TypeError(`${file.display} does not hold what it held`);
      return value;
    },
    locate: (index, line) => (pointer, at) => locateIn(found, { index, line })(pointer, at),
  };
}

type Found = { readonly documents: readonly ParsedDocument[]; readonly positionAt: (offset: number) => Position };

function find(file: SourceFile, limits: Limits): Found {
  const reading = { format: formatOf(file.path) ?? "yaml", limits, worthy: null };
  // The exact parser was asked before where there was doubt, and had nothing to add.
  const parsed = parseFile(file.bytes(), reading, () => null);
  return { documents: parsed?.documents ?? [], positionAt: lineFinder(parsed?.text ?? "") };
}

// A report is worth more than the exact place: where the file has changed meanwhile, the document's beginning will do.
function locateIn(found: () => Found, { index, line }: { readonly index: number; readonly line: number }): Locate {
  try {
    const { documents, positionAt } = found();
    const document = documents[index];
    if (document !== undefined) return locator(document, positionAt);
  } catch {
    // Said by whoever needs its content.
  }
  return () => ({ line, column: 1 });
}
