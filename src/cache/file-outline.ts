// src/cache: what earlier passes found out, by content digest; without it everything is read again. See docs/architecture.md#source-folders.

import type { Identity, Reference } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import { kindOf } from "../kinds/index.ts";
import type { CheckBasis } from "../manifests/check-semantics.ts";
import { type Declaration, keyIn, manifestDigest } from "../manifests/declaration.ts";
import type { KnownContent, LoadOptions, LoadRules } from "../manifests/load-manifests.ts";
import type { DeclareRules } from "../manifests/read-declarations.ts";
import { RereadableFile } from "../manifests/source-manifest.ts";
import { transformOf } from "../manifests/transform.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf } from "../yaml/document.ts";

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

/** Returns what a file contributes if its content is known; null if it must be read. */
export function knownContent(
  outlines: ReadonlyMap<string, FileOutline>,
  { rules, limits }: LoadOptions,
): (file: SourceFile) => KnownContent | null {
  const reading = { limits, transform: transformOf(rules) };
  return (file) => {
    const outline = outlines.get(contentKey(file, rules) ?? "");
    return outline === undefined ? null : contentFromOutline(file, outline, reading);
  };
}

// With `allowLiteralSecrets`, the path of a file decides what it may contain.
/** Under which name the outline of a file is known; null for a file without a digest. */
export function contentKey({ path, digest }: SourceFile, { allowLiteralSecrets = [] }: LoadRules): string | null {
  if (digest === null) return null;
  return allowLiteralSecrets.length > 0 ? `${path} ${digest}` : `${formatOf(path)} ${digest}`;
}

// Its manifests are not parsed.
function contentFromOutline(
  file: SourceFile,
  outline: FileOutline,
  rules: Pick<DeclareRules, "limits" | "transform">,
): KnownContent {
  const rereadable = new RereadableFile(file, rules.limits);
  const declarations = outline.declarations.map((one) => declarationOf(one, file, rereadable, rules.transform));
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
  file: SourceFile,
  rereadable: RereadableFile,
  transform: DeclareRules["transform"],
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
