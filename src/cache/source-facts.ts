import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { DeclarationOutline, FileOutline } from "../manifests/file-outline.ts";
import type { FileState, KnownFiles } from "../source/known-files.ts";
import { jsonArrayChunks } from "./json-array-chunks.ts";

/** What earlier passes learned of a source. */
export type SourceFacts = KnownFiles & {
  /** What contents contribute, by format and digest: it holds wherever and in whichever commit they lie. */
  readonly outlines: ReadonlyMap<string, FileOutline>;
};

/** Where nothing is known. */
export const NO_SOURCE_FACTS: SourceFacts = { at: 0, files: new Map(), outlines: new Map() };

type Written = {
  readonly at: number;
  readonly files: readonly WrittenFile[];
  readonly outlines: readonly (readonly [key: string, ...outline: WrittenOutline])[];
};

type WrittenFile = readonly [
  path: string,
  size: number,
  modified: number,
  changed: number,
  inode: number,
  digest: string,
  blob: string | null,
];

type WrittenOutline = readonly [
  said: readonly Omit<SourceDiagnostic, "file">[],
  declarations: readonly WrittenDeclaration[],
];

type WrittenDeclaration = readonly [
  type: string,
  identity: Identity,
  line: number,
  index: number,
  checkedBy: readonly [cluster: string | null, day: string | null] | null,
  /** Identity and pointer by turns. */
  references: readonly string[],
];

/** Writes the facts as text, in pieces. */
export function* writeSourceFacts({ at, files, outlines }: SourceFacts): Generator<string> {
  yield `{"at":${at},"files":[`;
  yield* jsonArrayChunks(files, ([path, state]) => writtenFile(path, state));
  yield '],"outlines":[';
  yield* jsonArrayChunks(outlines, ([key, outline]) => [key, ...writtenOutline(outline)]);
  yield "]}";
}

function writtenFile(path: string, { stamp, digest, blob }: FileState): WrittenFile {
  return [path, stamp.size, stamp.modified, stamp.changed, stamp.inode, digest, blob];
}

function writtenOutline({ said, declarations }: FileOutline): WrittenOutline {
  return [said, declarations.map(writtenDeclaration)];
}

function writtenDeclaration(one: DeclarationOutline): WrittenDeclaration {
  const { type, identity, line, index, checkedBy } = one;
  const references = one.references.flatMap((each) => [each.identity, each.pointer]);
  return [type, identity, line, index, checkedBy && [checkedBy.cluster, checkedBy.day], references];
}

/** Reads what `writeSourceFacts` wrote. */
export function readSourceFacts(text: string): SourceFacts {
  const { at, files, outlines }: Written = JSON.parse(text);
  return {
    at,
    files: new Map(files.map(readFile)),
    outlines: new Map(outlines.map(([key, ...outline]) => [key, readOutline(outline)])),
  };
}

function readFile([path, size, modified, changed, inode, digest, blob]: WrittenFile): [string, FileState] {
  return [path, { stamp: { size, modified, changed, inode }, digest, blob }];
}

function readOutline([said, declarations]: WrittenOutline): FileOutline {
  return { said, declarations: declarations.map(readDeclaration) };
}

function readDeclaration([type, identity, line, index, told, texts]: WrittenDeclaration): DeclarationOutline {
  const references: Reference[] = [];
  for (let at = 0; at < texts.length; at += 2) {
    references.push({ identity: texts[at] ?? "", pointer: texts[at + 1] ?? "" });
  }
  return { type, identity, line, index, references, checkedBy: told && { cluster: told[0], day: told[1] } };
}
