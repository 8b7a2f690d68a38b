import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import type { Identity, Reference } from "../core/manifest.ts";
import type { CheckBasis } from "../manifests/check-semantics.ts";
import type { Declaration } from "../manifests/declaration.ts";
import type { KnownContent } from "../manifests/load-manifests.ts";

/** What a file contributes, without the values of its manifests. */
export type FileOutline = {
  readonly declarations: readonly DeclarationOutline[];
  /** The diagnostics about the file, without its name. */
  readonly said: readonly Omit<SourceDiagnostic, "file">[];
};

/** A valid manifest without its value: all that rules between files need. */
export type DeclarationOutline = {
  readonly type: string;
  readonly identity: Identity;
  readonly line: number;
  /** Its index among the documents of its file. */
  readonly index: number;
  readonly references: readonly Reference[];
  /** What it was checked by; null where it was not found valid. */
  readonly checkedBy: CheckBasis | null;
};

// A file with more diagnostics is read each time.
const MAX_DIAGNOSTICS = 20;

/** The outline of a file that was read; null where it has to be read each time. */
export function outlineOf({ content, said }: KnownContent): FileOutline | null {
  const declarations = content.declarations.map(declarationOutline);
  const isWhole = declarations.every((one) => one !== null);
  if (!content.isFinal || !isWhole || said.length > MAX_DIAGNOSTICS) return null;
  return { declarations, said: said.map(({ file: _, ...rest }) => rest) };
}

function declarationOutline(one: Declaration): DeclarationOutline | null {
  const { type, identity, line, index, references, isValid, checkedBy } = one;
  return isValid && identity !== null ? { type, identity, line, index, references, checkedBy } : null;
}
