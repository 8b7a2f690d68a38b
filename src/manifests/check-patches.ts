import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import { globMatcher } from "../model/glob.ts";
import { type Rename, renamedFqn, renameEntries } from "../model/rename-fqns.ts";
import { closestName } from "../schema/closest-name.ts";
import { diagnosticInFile, isAboutSpecialFile, type Wording } from "../source/file-diagnostic.ts";
import type { KeyPlace } from "../source/read-config.ts";
import type { RevisionFiles, SourceFile } from "../source/revision.ts";
import { quoted } from "../yaml/fault.ts";
import type { Declaration } from "./declaration.ts";
import type { PatchDocument, PatchSet } from "./read-patches.ts";

/** What a target makes of the manifests of its source. */
export type PatchRules = {
  /** The folder of patch files, relative to the root of the source. */
  readonly patches?: string | null;
  readonly rename?: Rename | null;
  /** Where the configuration has them. */
  readonly places?: { readonly patches?: KeyPlace | null; readonly rename?: KeyPlace | null };
};

/** The files of a source by what they hold. */
export type FilesByUse = { readonly manifestFiles: readonly SourceFile[]; readonly patchFiles: readonly SourceFile[] };

/** Separates the patch files of a source from its other files. */
export function filesByUse(files: readonly SourceFile[], { patches = null }: PatchRules): FilesByUse {
  if (patches === null) return { manifestFiles: files, patchFiles: [] };
  const { manifests: manifestFiles = [], patches: patchFiles = [] } = Object.groupBy(files, ({ path }) =>
    path.startsWith(`${patches}/`) ? "patches" : "manifests",
  );
  return { manifestFiles, patchFiles };
}

type Read = {
  readonly file: SourceFile;
  readonly content: { readonly declarations: readonly Declaration[] };
  readonly diagnostics: readonly SourceDiagnostic[];
};

/** The diagnostics of files and patches; of one patch that is wrong for many manifests there is one. */
export function diagnosticsIn(files: readonly Read[], patches: PatchSet): Iterable<SourceDiagnostic> {
  const all = Iterator.from(files).flatMap(({ diagnostics }) => diagnostics);
  if (patches.files.length === 0) return all;
  const patchFiles = new Set<string | null>(patches.files.map(({ file }) => file.display));
  const byPlace = new Map<string, SourceDiagnostic>();
  for (const one of [...patches.files.flatMap(({ diagnostics }) => diagnostics), ...all]) {
    const { file, line, column, code, summary, related = [] } = one;
    const key = patchFiles.has(file) ? JSON.stringify([file, line, column, code, summary]) : String(byPlace.size);
    const known = byPlace.get(key);
    if (known === undefined) byPlace.set(key, one);
    else if (related.length > 0) byPlace.set(key, { ...known, related: [...(known.related ?? []), ...related] });
  }
  return byPlace.values();
}

/** What is wrong with the patches of a source as a whole. */
type PatchProblems = {
  readonly diagnostics: readonly Diagnostic[];
  /** Whether it is unknown what the manifests are with their patches. */
  readonly refusesAll: boolean;
};

/** Finds patches that match nothing, and patch files that are missing or cannot be read. */
export function patchProblems(
  {
    patches,
    files,
    declared,
  }: { readonly patches: PatchSet; readonly files: readonly Read[]; readonly declared: ReadonlySet<Identity> },
  rules: PatchRules,
  revision: RevisionFiles,
): PatchProblems {
  const folder = rules.patches ?? null;
  if (folder === null) return { diagnostics: [], refusesAll: false };
  const unread = revision.diagnostics.filter((one) => isUnreadPatch(one, folder, revision));
  if (patches.files.length === 0 && unread.length === 0) {
    const summary = `the folder ${quoted(folder)} of \`patches\` holds no patch files`;
    const detail = `${likeFolder(folder, revision)}Correct \`patches\` of the target, or remove it. Nothing is written without the patches.`;
    const missing = inConfiguration({ severity: "error", code: "no-patches", summary, detail }, rules.places?.patches);
    return { diagnostics: [missing], refusesAll: true };
  }
  const isKnown = files.every(({ content: { declarations }, diagnostics }) => {
    return (
      declarations.every(({ identity }) => identity !== null) && (declarations.length > 0 || !hasErrors(diagnostics))
    );
  });
  const unmatched = isKnown
    ? unmatchedPatches(patches, declared).map((one) => matchesNothing(one, declared, rules.rename ?? {}))
    : [];
  return { diagnostics: unmatched, refusesAll: patches.isBroken || unread.length > 0 };
}

// On some systems names that differ by case are one folder.
function likeFolder(folder: string, { files }: RevisionFiles): string {
  const found = files.find(({ path }) => path.toLowerCase().startsWith(`${folder.toLowerCase()}/`));
  return found === undefined ? "" : `Did you mean \`${found.path.slice(0, folder.length)}\`? `;
}

/** Whether a diagnostic of a revision is about a patch file, or the folder of patches, that is not read: then it is an error. */
export function isUnreadPatch(
  diagnostic: Diagnostic,
  folder: string,
  { files }: Pick<RevisionFiles, "files">,
): boolean {
  const [first] = files;
  if (diagnostic.file === null || first === undefined) return false;
  const top = first.display.slice(0, first.display.length - first.path.length);
  const path = diagnostic.file.slice(top.length);
  const isBelow = diagnostic.file.startsWith(top) && (path === folder || path.startsWith(`${folder}/`));
  return isBelow && (diagnostic.severity === "error" || isAboutSpecialFile(diagnostic));
}

/** The patches that match no declared resource. */
export function unmatchedPatches({ all, of }: PatchSet, declared: ReadonlySet<Identity>): readonly PatchDocument[] {
  if (all.length === 0) return all;
  const matched = new Set(declared.values().flatMap(of));
  return all.filter((patch) => !matched.has(patch));
}

function matchesNothing({ match, locate }: PatchDocument, declared: ReadonlySet<Identity>, rename: Rename): Diagnostic {
  // A patch written with the names that manifests have.
  const renamed = match
    .split("/")
    .map((segment) => renamedFqn(segment, rename))
    .join("/");
  const near = declared.values().some(globMatcher(renamed)) ? renamed : closestName(match, [...declared]);
  const place = locate("/match");
  const detail = `${near === undefined ? "" : `Did you mean ${quoted(near)}? `}Correct it, or remove the patch.`;
  const summary = `the patch matches nothing: no manifest declares ${quoted(match)}`;
  return diagnosticInFile(place.file, { severity: "error", code: "matches-nothing", summary, detail }, place);
}

/** The code of the warning about an entry of `rename` that renames nothing. */
export const RENAMES_NOTHING = "renames-nothing";

/** Warns of entries of a rename that have renamed nothing. */
export function unusedRenames(files: readonly Read[], { rename, places }: PatchRules): readonly Diagnostic[] {
  const entries = new Set(renameEntries(rename ?? {}));
  if (entries.size === 0 || files.some(({ diagnostics }) => hasErrors(diagnostics))) return [];
  for (const { content } of files) {
    for (const { renamedBy = [] } of content.declarations) for (const entry of renamedBy) entries.delete(entry);
  }
  return [...entries].map((entry) => {
    const summary = `\`rename: ${entry}\` renames nothing in the source`;
    const detail = "Correct it, or remove it.";
    return inConfiguration({ severity: "warning", code: RENAMES_NOTHING, summary, detail }, places?.rename);
  });
}

function inConfiguration(wording: Wording, place: KeyPlace | null = null): Diagnostic {
  return { ...diagnosticInFile("", wording, place), file: place?.file ?? null };
}

/** Errors as those of the manifests that they refuse: one in a patch is that of the manifests that it matches. */
export function atManifests(
  diagnostics: readonly SourceDiagnostic[],
  { files }: PatchSet,
): readonly SourceDiagnostic[] {
  if (files.length === 0) return diagnostics;
  const patchFiles = new Set<string | null>(files.map(({ file }) => file.display));
  return diagnostics.flatMap((one): readonly SourceDiagnostic[] => {
    if (!patchFiles.has(one.file)) return [one];
    const { related = [], ...alone } = one;
    const summary = `${one.summary} (${one.file}:${one.line ?? 1})`;
    return related.map((place) => ({ ...alone, summary, ...place }));
  });
}
