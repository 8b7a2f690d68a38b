import { textPool } from "../contract/text-pool.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import type { FileState, KnownFiles } from "../source/file-stamp.ts";
import type { DeclarationOutline, FileOutline } from "./file-outline.ts";
import { jsonArrayChunks } from "./json-array-chunks.ts";

/** What earlier passes learned about a source. */
export type SourceFacts = KnownFiles & {
  /** What file contents contribute, by format and digest. An outline is valid in every place and commit. */
  readonly outlines: ReadonlyMap<string, FileOutline>;
};

/** No facts. */
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
  diagnostics: readonly Omit<SourceDiagnostic, "file">[],
  declarations: readonly WrittenDeclaration[],
];

type WrittenDeclaration = readonly [
  type: string,
  identity: Identity,
  line: number,
  index: number,
  checkedBy: readonly [cluster: string | null, day: string | null] | null,
  /** Identities and pointers alternate. */
  references: readonly string[],
  /** What has transformed it; absent if nothing has. */
  transformed?: readonly [patchedBy: string | null, renamedBy: readonly string[]],
];

/** Writes the facts as text, in chunks. */
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

function writtenOutline({ diagnostics, declarations }: FileOutline): WrittenOutline {
  return [diagnostics, declarations.map(writtenDeclaration)];
}

function writtenDeclaration(one: DeclarationOutline): WrittenDeclaration {
  const { type, identity, line, index, checkedBy } = one;
  const { patchedBy = null, renamedBy = [] } = one;
  const references = one.references.flatMap((each) => [each.identity, each.pointer]);
  const written = [
    type,
    identity,
    line,
    index,
    checkedBy && ([checkedBy.cluster, checkedBy.day] as const),
    references,
  ] as const;
  return patchedBy === null && renamedBy.length === 0 ? written : [...written, [patchedBy, renamedBy]];
}

/** Reads what `writeSourceFacts` wrote. */
export function readSourceFacts(text: string): SourceFacts {
  const { at, files, outlines }: Written = JSON.parse(text);
  const pool = textPool();
  return {
    at,
    files: new Map(files.map(readFile)),
    outlines: new Map(outlines.map(([key, ...outline]) => [key, readOutline(outline, pool)])),
  };
}

function readFile([path, size, modified, changed, inode, digest, blob]: WrittenFile): [string, FileState] {
  return [path, { stamp: { size, modified, changed, inode }, digest, blob }];
}

const NO_DIAGNOSTICS: WrittenOutline[0] = [];

type Pool = ReturnType<typeof textPool>;

function readOutline([diagnostics, declarations]: WrittenOutline, pool: Pool): FileOutline {
  return {
    diagnostics: diagnostics.length === 0 ? NO_DIAGNOSTICS : diagnostics,
    declarations: declarations.map((one) => readDeclaration(one, pool)),
  };
}

function readDeclaration(
  [type, identity, line, index, basis, texts, transformed]: WrittenDeclaration,
  pool: Pool,
): DeclarationOutline {
  // Allocated with its final length: a growing array reserves room for many more items.
  const references = Array.from({ length: texts.length / 2 }, (_, nth): Reference => {
    return { identity: pool(texts[2 * nth] ?? ""), pointer: pool(texts[2 * nth + 1] ?? "") };
  });
  const checkedBy = basis && { cluster: basis[0] && pool(basis[0]), day: basis[1] };
  const outline = { type, identity: pool(identity), line, index, references, checkedBy };
  if (transformed === undefined) return outline;
  const [patchedBy, renamedBy] = transformed;
  return {
    ...outline,
    ...(patchedBy === null ? {} : { patchedBy }),
    ...(renamedBy.length === 0 ? {} : { renamedBy: renamedBy.map(pool) }),
  };
}
