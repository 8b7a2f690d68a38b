import { isDeepStrictEqual } from "node:util";
import { compareText } from "../contract/json.ts";
import { hasErrors } from "../core/diagnostic.ts";
import { referrersOf } from "../core/graph.ts";
import type { Identity } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import { kinds } from "../kinds/index.ts";
import {
  type FilesByUse,
  filesByUse,
  RENAMES_NOTHING,
  unmatchedPatches,
  unusedRenames,
} from "../manifests/check-patches.ts";
import { checkEverySemantics, hasParent } from "../manifests/check-semantics.ts";
import { type Declaration, validManifest } from "../manifests/declaration.ts";
import { diagnosticList, type Refuse } from "../manifests/diagnostic-list.ts";
import {
  isOurReport,
  type Loaded,
  type LoadOptions,
  patchFilesOf,
  type ReadFile,
  readAll,
  readingOf,
  revisionDiagnostics,
} from "../manifests/load-manifests.ts";
import { type PatchSet, readPatches } from "../manifests/read-patches.ts";
import { resolveReferences } from "../manifests/resolve-references.ts";
import type { Rereading, SourceManifest } from "../manifests/source-manifest.ts";
import { type NamedList, namedList } from "../model/named-list.ts";
import { once } from "../model/once.ts";
import type { Pace } from "../source/pacer.ts";
import type { RevisionFiles } from "../source/revision.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";

/** A revision that was loaded before. */
type Earlier = { readonly revision: RevisionFiles; readonly loaded: Loaded };

/**
 * Loads only the files that differ from an earlier revision. Null where that may change what is known of other files, so
 * that everything must be resolved again: where anything is invalid, or references or versions change.
 */
export async function loadChanged(
  earlier: Earlier,
  revision: RevisionFiles & { readonly since: NonNullable<RevisionFiles["since"]> },
  options: LoadOptions,
  { clock, signal }: Pace,
): Promise<Loaded | null> {
  const { loaded: before } = earlier;
  // What a list of diagnostics has dropped is not known.
  if (before.refused.length > 0 || before.diagnostics.some(({ code }) => code === "more")) return null;
  await using exact = new ExactProcess();
  const changedFiles = filesByUse(revision.filesByPath.among(revision.since.changed), options.rules);
  const patches = await patchesOf(earlier, { revision, changedFiles, options }, { exact, signal });
  if (patches === null) return null;
  const reading = readingOf(options, { exact, clock, signal }, patches);
  const due = new Set([...changedFiles.manifestFiles.map(({ path }) => path), ...pathsPatchedAnew(before, patches)]);
  const read = await readAll(revision.filesByPath.among(due), reading);
  const files = [...read, ...patchFilesOf(patches).filter(({ file }) => changedFiles.patchFiles.includes(file))];
  const replaced = replacedFiles(before, files, revision);
  const change = changeOf(declarationsIn(replaced), declarationsIn(files), before);
  const changed = change && withNodes(before, change);
  if (changed === null) return null;
  const refused: Identity[] = [];
  const refuse: Refuse = (identity) => void refused.push(identity);
  const { valid, ...nodes } = changed;
  const { declared, manifestsByIdentity } = nodes;
  const { external = [] } = options.rules;
  await resolveReferences(valid, { declared, external, refuse, reading, pause: reading.pause });
  const found = diagnosticList();
  const checking = { now: options.now, add: found.add, refuse, reading };
  const checks = await checkEverySemantics(valid, checking, manifestsByIdentity);
  if (refused.length > 0) return null;
  const filesByPath = withFiles(before.contents.filesByPath, files, revision);
  for (const one of keptDiagnostics(earlier, [...replaced, ...files])) found.add(one);
  for (const one of revisionDiagnostics(revision, options.rules)) found.add(one);
  for (const one of unusedRenames(filesByPath.list, options.rules)) found.add(one);
  for (const { diagnostics } of files) for (const one of diagnostics) found.add(one);
  const diagnostics = found.all();
  if (hasErrors(diagnostics) || unmatchedPatches(patches, declared).length > 0) return null;
  return {
    ...before,
    ...nodes,
    diagnostics,
    files: before.files + fileCount(files) - fileCount(replaced),
    documents: before.documents + declarationsIn(files).length - declarationsIn(replaced).length,
    contents: { at: revision.at, files: filesByPath.list, filesByPath, checks, patches },
  };
}

type Changed = {
  readonly revision: RevisionFiles;
  readonly changedFiles: FilesByUse;
  readonly options: LoadOptions;
};

// The patches of the revision; null where they have faults, or diagnostics of patches are known.
async function patchesOf(
  { revision: earlier, loaded: { contents, diagnostics } }: Earlier,
  { revision, changedFiles, options }: Changed,
  reading: Rereading,
): Promise<PatchSet | null> {
  const { patches: before } = contents;
  if ((options.rules.patches ?? null) === null) return before;
  const patchFiles = new Set<string | null>(before.files.map(({ file }) => file.display));
  if (diagnostics.some(({ file }) => patchFiles.has(file))) return null;
  const [was, is] = [earlier, revision].map(({ files }) => filesByUse(files, options.rules).patchFiles.length);
  if (changedFiles.patchFiles.length === 0 && was === is) return before;
  const read = await readPatches(filesByUse(revision.files, options.rules).patchFiles, { ...options, ...reading });
  return read.files.length === 0 || read.files.some((file) => file.diagnostics.length > 0) ? null : read;
}

/** The files with manifests that patches match which have changed, or no longer match them. */
function pathsPatchedAnew({ contents }: Loaded, patches: PatchSet): readonly string[] {
  if (patches === contents.patches) return [];
  const changed = contents.files.filter(({ content }) =>
    content.declarations.some(({ identity, patched }) => {
      return identity !== null && (patched?.key ?? "") !== patches.keyOf(identity);
    }),
  );
  return changed.map(({ file }) => file.path);
}

/** The earlier files that changed or are gone. */
function replacedFiles(
  { contents }: Loaded,
  files: readonly ReadFile[],
  { filesByPath, files: { length } }: RevisionFiles,
): readonly ReadFile[] {
  const changed = contents.filesByPath.among(files.map(({ file }) => file.path));
  if (contents.files.length + files.length - changed.length === length) return changed;
  return [...changed, ...contents.files.filter(({ file }) => filesByPath.named(file.path) === undefined)];
}

function declarationsIn(files: readonly ReadFile[]): readonly Declaration[] {
  return files.flatMap(({ content }) => content.declarations);
}

function fileCount(files: readonly ReadFile[]): number {
  return files.filter((file) => !isOurReport(file)).length;
}

type Named = Declaration & { readonly identity: Identity };

/** The declarations of the changed files: all of them, and those whose resources were not declared or no longer are. */
type Change = { readonly now: readonly Named[]; readonly added: readonly Named[]; readonly removed: readonly Named[] };

// Null where the declarations are invalid, or a resource that stays has other references.
function changeOf(
  earlier: readonly Declaration[],
  declarations: readonly Declaration[],
  { declared }: Loaded,
): Change | null {
  const [was, now] = [earlier.filter(isNamed), declarations.filter(isNamed)];
  if (was.length < earlier.length || now.length < declarations.length) return null;
  const before = new Map(was.map((one) => [one.identity, one]));
  const present = new Set(now.map(({ identity }) => identity));
  if (present.size < now.length) return null;
  const added = now.filter(({ identity }) => !before.has(identity));
  const removed = was.filter(({ identity }) => !present.has(identity));
  const stays = now.every(({ identity, references }) => {
    return isDeepStrictEqual(references, before.get(identity)?.references ?? references);
  });
  const isTaken = added.some(({ identity }) => declared.has(identity));
  return stays && !isTaken ? { now, added, removed } : null;
}

function isNamed(one: Declaration): one is Named {
  return one.isValid && one.identity !== null;
}

type Nodes = Pick<Loaded, "manifests" | "manifestsByIdentity" | "waves" | "declared" | "referrers"> & {
  /** The manifests of the changed files. */
  readonly valid: readonly (SourceManifest & Pick<Declaration, "checkedBy">)[];
};

function withNodes(before: Loaded, { now, added, removed }: Change): Nodes | null {
  const isSame = added.length + removed.length === 0;
  const gone = new Set(removed.map(({ identity }) => identity));
  const declared = isSame
    ? before.declared
    : before.declared.difference(gone).union(new Set(added.map(({ identity }) => identity)));
  if (!isSame && !isIndependent({ added, gone, declared }, before)) return null;
  const valid = now.flatMap((one) => validManifest(one, { declared, invalid: before.invalid }) ?? []);
  // Other manifests may depend on one without a parent: on the content of their cluster, or on the version before theirs.
  if (valid.length < now.length || !valid.every(hasParent)) return null;
  if (isSame) {
    const manifestsByIdentity = before.manifestsByIdentity.withReplaced(valid);
    const { waves, referrers } = before;
    return { valid, declared, manifests: manifestsByIdentity.list, manifestsByIdentity, waves, referrers };
  }
  const waves = wavesWith(valid, { declared, waves: before.waves });
  if (waves === null) return null;
  const changed = new Map(valid.map((manifest) => [manifest.identity, manifest]));
  const others = before.manifests.filter(({ identity }) => !gone.has(identity) && !changed.has(identity));
  const waveOf = ({ identity }: SourceManifest): number => waves.get(identity) ?? 0;
  // As the graph orders all of them; sorting what is almost sorted takes little time.
  const manifests = [...others, ...valid].toSorted(
    (a, b) => waveOf(a) - waveOf(b) || compareText(a.identity, b.identity),
  );
  return {
    valid,
    declared,
    manifests,
    manifestsByIdentity: namedList(manifests, ({ identity }) => identity),
    waves: new Map(manifests.map((manifest) => [manifest.identity, waveOf(manifest)])),
    referrers: once(() => referrersOf(manifests)),
  };
}

type Exchange = {
  readonly added: readonly Named[];
  readonly gone: ReadonlySet<Identity>;
  readonly declared: ReadonlySet<Identity>;
};

// Whether no other manifest refers to what comes or goes, and no other application has the name of one that comes.
function isIndependent({ added, gone, declared }: Exchange, { referrers }: Loaded): boolean {
  const refer = referrers();
  if (gone.values().some((identity) => refer.get(identity)?.some((other) => !gone.has(other)))) return false;
  return added.every(({ kind, key, identity }) => {
    const sharing = kinds.filter(({ type, sharesNames }) => {
      return kind.sharesNames !== undefined && sharesNames === kind.sharesNames && type !== kind.type;
    });
    return !refer.has(identity) && !sharing.some(({ type }) => declared.has(`${type}/${key}`));
  });
}

// Null where some of them refer to each other in a cycle.
function wavesWith(
  valid: readonly SourceManifest[],
  { declared, waves }: Pick<Loaded, "declared" | "waves">,
): ReadonlyMap<Identity, number> | null {
  const now = new Map(waves);
  let open = valid.filter(({ identity }) => !waves.has(identity));
  while (open.length > 0) {
    const ready = open.flatMap(({ identity, references }) => {
      const below = references.flatMap((one) => (declared.has(one.identity) ? [now.get(one.identity)] : []));
      const depths = below.filter((depth) => depth !== undefined);
      return depths.length < below.length ? [] : [[identity, Math.max(-1, ...depths) + 1] as const];
    });
    if (ready.length === 0) return null;
    for (const [identity, wave] of ready) now.set(identity, wave);
    open = open.filter(({ identity }) => !now.has(identity));
  }
  return now;
}

// What the earlier revision itself reports is replaced by what the new one reports.
function keptDiagnostics({ revision, loaded }: Earlier, files: readonly ReadFile[]): readonly SourceDiagnostic[] {
  const displays = new Set<string | null>(files.map(({ file }) => file.display));
  const reported = new Set<SourceDiagnostic>(revision.diagnostics);
  return loaded.diagnostics.filter(
    (one) => !displays.has(one.file) && !reported.has(one) && one.code !== RENAMES_NOTHING,
  );
}

function withFiles(
  before: NamedList<ReadFile>,
  changed: readonly ReadFile[],
  { files }: RevisionFiles,
): NamedList<ReadFile> {
  const isSame = files.length === before.list.length && changed.every(({ file }) => before.named(file.path));
  if (isSame) return before.withReplaced(changed);
  const read = new Map(changed.map((one) => [one.file.path, one]));
  return namedList(
    files.flatMap(({ path }) => read.get(path) ?? before.named(path) ?? []),
    ({ file }) => file.path,
  );
}
