import type { Kind } from "../core/kind.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import { type Declaration, keyIn, withDefaultWorkspace } from "./declaration.ts";
import type { DeclarationOutline, FileOutline } from "./file-outline.ts";
import type { FileContent } from "./read-declarations.ts";
import { RereadableFile } from "./rereadable-file.ts";

/** What making declarations of outlines needs to know. */
export type OutlineReading = {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly limits: Limits;
  readonly defaultWorkspace: string | null;
};

/** What a file contributes, by the outline of the same content; its manifests are not parsed. */
export function declarationsFromOutline(
  file: SourceFile,
  { declarations }: FileOutline,
  { kindOf, limits, defaultWorkspace }: OutlineReading,
): FileContent {
  const plain = new RereadableFile(file, limits);
  const made = declarations.map((one) =>
    declarationOf(one, { file, plain, kind: kindFor(one, kindOf), defaultWorkspace }),
  );
  return { declarations: made, isQuickToReread: true };
}

function declarationOf(
  { type, identity, line, index, references, checkedBy }: DeclarationOutline,
  {
    file,
    plain,
    kind,
    defaultWorkspace,
  }: Pick<OutlineReading, "defaultWorkspace"> & {
    readonly file: SourceFile;
    readonly plain: RereadableFile;
    readonly kind: Kind;
  },
): Declaration {
  return {
    kind,
    type,
    identity,
    key: keyIn(kind, identity),
    read: () => withDefaultWorkspace(kind, plain.value(index), { defaultWorkspace }),
    references,
    file,
    index,
    line,
    // Made when it is asked for: few manifests are ever located.
    locate: (pointer, at) => plain.locate(index, line)(pointer, at),
    isValid: true,
    checkedBy,
  };
}

function kindFor({ type }: DeclarationOutline, kindOf: OutlineReading["kindOf"]): Kind {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`an outline has no kind: ${type}`);
  return kind;
}
