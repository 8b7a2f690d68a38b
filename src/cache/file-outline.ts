import type { Identity, Reference } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import type { CheckBasis } from "../manifests/check-semantics.ts";
import type { Declaration } from "../manifests/declaration.ts";
import type { KnownContent } from "../manifests/load-manifests.ts";

/** What a file contributes, without the values of its manifests. */
export type FileOutline = {
  readonly declarations: readonly DeclarationOutline[];
  /** Diagnostics about the file, without its name. */
  readonly diagnostics: readonly Omit<SourceDiagnostic, "file">[];
};

/** A valid manifest without its value. Checks across files need nothing more. */
export type DeclarationOutline = {
  readonly type: string;
  readonly identity: Identity;
  readonly line: number;
  /** Its index among the documents of its file. */
  readonly index: number;
  readonly references: readonly Reference[];
  /** What its checks depended on; null if the manifest did not pass them. */
  readonly checkedBy: CheckBasis | null;
};

// A file with more diagnostics is not cached.
const MAX_DIAGNOSTICS = 20;

/** The outline of a file that was read; null if the file must be read on every pass. */
export function outlineOf({ content, diagnostics }: KnownContent): FileOutline | null {
  const declarations = content.declarations.map(declarationOutline);
  const isComplete = declarations.every((one) => one !== null);
  if (!content.isFinal || !isComplete || diagnostics.length > MAX_DIAGNOSTICS) return null;
  return { declarations, diagnostics: diagnostics.map(({ file: _, ...rest }) => rest) };
}

function declarationOutline(one: Declaration): DeclarationOutline | null {
  const { type, identity, line, index, references, isValid, checkedBy } = one;
  return isValid && identity !== null ? { type, identity, line, index, references, checkedBy } : null;
}
