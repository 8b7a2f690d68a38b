// src/cache: what earlier passes found out, by content digest; without it everything is read again. See docs/architecture.md#source-folders.

import type { SourceDiagnostic } from "../core/other-documents.ts";
import { kindOf } from "../kinds/index.ts";
import { type Declaration, keyIn, manifestDigest } from "../manifests/declaration.ts";
import type { KnownContent } from "../manifests/load-manifests.ts";
import type { DeclareRules } from "../manifests/read-declarations.ts";
import { RereadableFile } from "../manifests/rereadable-file.ts";
import type { SourceFile } from "../source/revision.ts";
import type { DeclarationOutline, FileOutline } from "./file-outline.ts";

/** What is needed to create declarations from outlines. */
type OutlineContext = Pick<DeclareRules, "limits" | "transform">;

/** What a file contributes, from the outline of the same content. Its manifests are not parsed. */
export function contentFromOutline(file: SourceFile, outline: FileOutline, context: OutlineContext): KnownContent {
  const rereadable = new RereadableFile(file, context.limits);
  const declarations = outline.declarations.map((one) => declarationOf(one, { ...context, file, rereadable }));
  const diagnostics = outline.diagnostics.map(
    ({ severity, code, summary, detail, line, column, ...rest }): SourceDiagnostic => {
      // The fields are in the same order as in every other diagnostic, so that reports are equal byte for byte.
      return { severity, code, summary, detail, file: file.display, line, column, ...rest };
    },
  );
  return { content: { declarations, isFinal: true }, diagnostics };
}

function declarationOf(
  { type, identity, line, index, references, checkedBy }: DeclarationOutline,
  { file, rereadable, transform }: OutlineContext & { readonly file: SourceFile; readonly rereadable: RereadableFile },
): Declaration {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`an outline has no kind: ${type}`);
  return {
    kind,
    type,
    identity,
    key: keyIn(kind, identity),
    read: async (rereading) => transform.manifestOf(kind, await rereadable.value(index, rereading)),
    references,
    file,
    digest: manifestDigest(file, index, transform),
    index,
    line,
    locate: rereadable.locate(index, line),
    isValid: true,
    checkedBy,
  };
}
