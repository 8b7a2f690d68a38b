// src/cache: what earlier passes found out, by content digest; without it everything is read again. See docs/architecture.md#source-folders.

import type { Identity, Reference } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import { kindOf } from "../kinds/index.ts";
import type { CheckBasis } from "../manifests/check-semantics.ts";
import { type Declaration, keyIn, manifestDigest } from "../manifests/declaration.ts";
import type { KnownContent, LoadOptions, LoadRules } from "../manifests/load-manifests.ts";
import type { DeclareRules } from "../manifests/read-declarations.ts";
import { RereadableFile } from "../manifests/source-manifest.ts";
import { patchedManifest, placesOf, type Transform } from "../manifests/transform.ts";
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
  /** The key of the patches that were applied; absent if none was. */
  readonly patchedBy?: string;
  /** The entries of the rename that have renamed something in it; absent if none has. */
  readonly renamedBy?: readonly string[];
};

// A file with more diagnostics is not cached.
const MAX_DIAGNOSTICS = 20;

/** The outline of a file that was read; null if the file must be read on every pass. */
export function outlineOf({
  file,
  content,
  diagnostics,
}: KnownContent & { readonly file: SourceFile }): FileOutline | null {
  const declarations = content.declarations.map(declarationOutline);
  const isComplete = declarations.every((one) => one !== null);
  if (!content.isFinal || !isComplete || diagnostics.length > MAX_DIAGNOSTICS) return null;
  // What is said of a patch is not about this file alone.
  if (diagnostics.some((one) => one.file !== file.display)) return null;
  return { declarations, diagnostics: diagnostics.map(({ file: _, ...rest }) => rest) };
}

function declarationOutline(one: Declaration): DeclarationOutline | null {
  const { type, identity, line, index, references, isValid, checkedBy, patched, renamedBy } = one;
  if (!isValid || identity === null) return null;
  return {
    ...{ type, identity, line, index, references, checkedBy },
    ...(patched === undefined ? {} : { patchedBy: patched.key }),
    ...(renamedBy === undefined ? {} : { renamedBy }),
  };
}

/** Returns what a file contributes if its content is known; null if it must be read. */
export function knownContent(
  outlines: ReadonlyMap<string, FileOutline>,
  { rules, limits }: LoadOptions,
): (file: SourceFile, transform: Transform) => KnownContent | null {
  return (file, transform) => {
    const outline = outlines.get(contentKey(file, rules) ?? "");
    if (outline === undefined || !hasSamePatches(outline, transform)) return null;
    return contentFromOutline(file, outline, { limits, transform });
  };
}

// Of a source without patches nothing is looked up.
function hasSamePatches({ declarations }: FileOutline, { patches }: Transform): boolean {
  if (patches.all.length === 0) return declarations.every(({ patchedBy }) => patchedBy === undefined);
  return declarations.every(({ identity, patchedBy = "" }) => patchedBy === patches.keyOf(identity));
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
  { type, identity, line, index, references, checkedBy, renamedBy }: DeclarationOutline,
  file: SourceFile,
  rereadable: RereadableFile,
  transform: DeclareRules["transform"],
): Declaration {
  const kind = kindOf(type);
  if (kind === undefined) throw new TypeError(`an outline has no kind: ${type}`);
  const patched = patchedManifest(transform, { kind, identity }, (reading) => rereadable.value(index, reading));
  return {
    kind,
    type,
    identity,
    key: keyIn(kind, identity),
    read: async (reading) => transform.transformed(kind, type, await rereadable.value(index, reading)).value,
    references,
    file,
    digest: manifestDigest(file, index, [transform.key, patched?.key]),
    index,
    line,
    locate: rereadable.locate(index, line, placesOf(transform, { kind, type, identity })),
    ...(patched === null ? {} : { patched }),
    ...(renamedBy === undefined ? {} : { renamedBy }),
    isValid: true,
    checkedBy,
  };
}
