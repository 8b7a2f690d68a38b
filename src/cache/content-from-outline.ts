import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import { type Declaration, keyIn, withDefaultWorkspace } from "../manifests/declaration.ts";
import type { KnownContent } from "../manifests/load-manifests.ts";
import type { DeclareRules } from "../manifests/read-declarations.ts";
import { RereadableFile } from "../manifests/rereadable-file.ts";
import type { SourceFile } from "../source/revision.ts";
import type { DeclarationOutline, FileOutline } from "./file-outline.ts";

/** What creating declarations from outlines needs. */
type OutlineReading = Pick<DeclareRules, "kindOf" | "limits" | "defaultWorkspace">;

/** What a file contributes, from the outline of the same content; its manifests are not parsed. */
export function contentFromOutline(file: SourceFile, outline: FileOutline, reading: OutlineReading): KnownContent {
  const again = new RereadableFile(file, reading.limits);
  const declarations = outline.declarations.map((one) => declarationOf(one, { ...reading, file, again }));
  const said = outline.said.map(({ severity, code, summary, detail, line, column, ...rest }): SourceDiagnostic => {
    // In the order of every other diagnostic: the same report is the same, byte for byte.
    return { severity, code, summary, detail, file: file.display, line, column, ...rest };
  });
  return { content: { declarations, isFinal: true }, said };
}

function declarationOf(
  { type, identity, line, index, references, checkedBy }: DeclarationOutline,
  {
    file,
    again,
    kindOf,
    defaultWorkspace,
  }: OutlineReading & { readonly file: SourceFile; readonly again: RereadableFile },
): Declaration {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`an outline has no kind: ${type}`);
  return {
    kind,
    type,
    identity,
    key: keyIn(kind, identity),
    read: async (rereading) => withDefaultWorkspace(kind, await again.value(index, rereading), { defaultWorkspace }),
    references,
    file,
    index,
    line,
    locate: again.locate(index, line),
    isValid: true,
    checkedBy,
  };
}
