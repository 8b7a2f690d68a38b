import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { CheckBasis } from "./check-semantics.ts";
import type { Declaration } from "./declaration.ts";
import type { FileContent } from "./read-declarations.ts";

/** What a file contributes, its manifests in outline. */
export type FileOutline = {
  readonly declarations: readonly DeclarationOutline[];
  /** What is said of the file, without its name. */
  readonly said: readonly Omit<SourceDiagnostic, "file">[];
};

/** A valid manifest in outline: all that rules between files need. */
export type DeclarationOutline = {
  readonly type: string;
  readonly identity: Identity;
  readonly line: number;
  /** Its place among the documents of its file. */
  readonly index: number;
  readonly references: readonly Reference[];
  /** What it was checked by; null where it was not found valid. */
  readonly checkedBy: CheckBasis | null;
};

// A file of which more is said is read each time.
const MAX_DIAGNOSTICS = 20;

/** The outline of a file that was read; null where it has to be read each time. */
export function outlineOf({
  content,
  said,
}: {
  readonly content: FileContent;
  readonly said: readonly SourceDiagnostic[];
}): FileOutline | null {
  const declarations = content.declarations.map(declarationOutline);
  const isWhole = declarations.every((one) => one !== null);
  if (!content.isQuickToReread || !isWhole || said.length > MAX_DIAGNOSTICS) return null;
  return { declarations, said: said.map(({ file: _, ...rest }) => rest) };
}

function declarationOutline(one: Declaration): DeclarationOutline | null {
  const { type, identity, line, index, references, isValid, checkedBy } = one;
  return isValid && identity !== null ? { type, identity, line, index, references, checkedBy } : null;
}
