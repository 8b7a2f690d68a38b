import type { JsonObject } from "../../contract/json.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import type { InvalidManifest } from "../../core/invalid-manifest.ts";
import type { Identity } from "../../core/manifest.ts";
import type { SourceDiagnostic } from "../../core/other-documents.ts";
import { isEverything, isUnder, type Selection, select, selectNamed } from "../../core/selection/select.ts";
import { isOurReport, type Loaded } from "../../manifests/load-manifests.ts";
import type { SourceManifest } from "../../manifests/source-manifest.ts";
import { once } from "../../model/once.ts";
import type { Revision } from "../../source/read-source.ts";
import type { RevisionFiles, SourceFile } from "../../source/revision.ts";
import type { FilesPlace } from "../model-files/read-version-files.ts";
import type { Rules } from "../target.ts";
import type { OwnHistory } from "./own-history.ts";

/** The desired state, as the source declares it. */
export type Desired = {
  readonly revision: string | null;
  /** The commit that the source differs from, and the number of differing files; absent without a difference. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The files that differ from that commit, as reports name them; absent where it is not known which ones do. */
  readonly uncommitted?: ReadonlySet<string>;
  /** The branch of the work tree; absent where it is on none. */
  readonly branch?: string;
  /** The selected manifests and their references, each after its references. */
  readonly manifests: readonly SourceManifest[];
  /** Those that the selection does not name itself: others refer to them; absent where everything is named. */
  readonly onlyReferredTo?: ReadonlySet<Identity>;
  /** Depth of each manifest in the reference graph, from 0. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** A file of the source, by its path or as reports name it; absent where nothing but manifests is read of it. */
  readonly fileAt?: (name: { readonly path: string } | { readonly display: string }) => SourceFile | undefined;
  /** Every identity that the whole source declares. */
  readonly declared: ReadonlySet<Identity>;
  readonly invalid: ReadonlySet<Identity>;
  /** The selected manifests that are refused. */
  readonly refused: readonly InvalidManifest[];
  /** The refused manifests of the whole source that do not say what they declare. */
  readonly nameless: readonly InvalidManifest[];
  /** Whether `manifests` is the whole source; orphans are found only then. */
  readonly isWhole: boolean;
  /** The number of resources that are assumed to be in sync and not read; absent where all are read. */
  readonly outOfScope?: number;
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  /** The manifests that the patches of the base make otherwise, as those make them; absent without a base. */
  readonly underBasePatches?: ReadonlyMap<Identity, JsonObject>;
  /** Manifests at the last applied commit, from a ref of the repository; null without one. */
  readonly applied: ReadonlyMap<Identity, JsonObject> | null;
  /** Those of some identities that other targets of the control plane declare; null where there is no other target. */
  readonly declaredElsewhere: ((identities: Iterable<Identity>) => Promise<ReadonlySet<Identity>>) | null;
  /** What the repository tells of resources that the ledger does not know; null where the commit is not known. */
  readonly history: OwnHistory | null;
  /** Where the files are that manifests name. */
  readonly filesPlace: FilesPlace;
  readonly diagnostics: readonly Diagnostic[];
};

/** A loaded source with the faults of its configuration; diagnostics about other documents are separate. */
export type Reported = Omit<Loaded, "contents"> & { readonly otherDocuments: readonly SourceDiagnostic[] };

/** What a loaded source declares, as far as it is selected. */
export function desiredOf(
  { manifests, waves, declared, invalid, refused, diagnostics }: Reported,
  revision: Revision,
  {
    rules: { selection },
    base,
    applied,
    declaredElsewhere,
    history,
    filesPlace,
    behind,
    ...patched
  }: Pick<Desired, "base" | "underBasePatches" | "applied" | "history" | "declaredElsewhere" | "filesPlace"> & {
    readonly rules: Rules;
    readonly behind: readonly Diagnostic[];
  },
): Desired {
  const { commit, changedSince, branch } = revision;
  const byDisplay = once(() => new Map(revision.files.map((file) => [file.display, file])));
  const isWhole = isEverything(selection);
  const selected = select(manifests, selection);
  const named = isWhole ? null : new Set(selectNamed(manifests, selection).map(({ identity }) => identity));
  const since = commit !== null || changedSince === undefined ? {} : { changedSince, ...uncommittedIn(revision) };
  return {
    revision: commit,
    ...since,
    ...(branch === undefined ? {} : { branch }),
    manifests: selected,
    ...(named && { onlyReferredTo: new Set(waves.keys()).difference(named) }),
    waves,
    fileAt: (name) => ("path" in name ? revision.filesByPath.named(name.path) : byDisplay().get(name.display)),
    declared,
    invalid,
    refused: isWhole ? refused : refusedOf(refused, selection),
    nameless: refused.filter(({ identity }) => identity === ""),
    isWhole,
    base,
    ...patched,
    applied,
    declaredElsewhere,
    history,
    filesPlace,
    diagnostics: [...behind, ...diagnostics],
  };
}

/** How much of a source is selected. */
export type SelectionCounts = {
  /** Files that were read: those under the selected paths, and those of the selected manifests. */
  readonly files: number;
  /** Valid manifests. */
  readonly manifests: number;
  /** Invalid manifests. */
  readonly faulty: number;
};

/** The selected ones of the invalid manifests. What cannot be read may be of any kind. */
function refusedOf(refused: readonly InvalidManifest[], selection: Selection): readonly InvalidManifest[] {
  const ofKnownKind = refused.filter(({ kind }) => kind !== "");
  const others = refused.filter(({ kind }) => kind === "");
  return [...selectNamed(ofKnownKind, selection), ...selectNamed(others, { ...selection, kinds: [] })];
}

/** Counts what is selected. */
export function countSelection(
  files: RevisionFiles["files"],
  { manifests, refused: faulty, isWhole }: Desired,
  selection: Selection,
): SelectionCounts {
  if (isWhole) return { files: files.length, manifests: manifests.length, faulty: faulty.length };
  const below = files.filter(({ display }) => selection.paths.some((path) => isUnder(path, display)));
  const read = new Set([...below.map(({ display }) => display), ...[...manifests, ...faulty].map(({ file }) => file)]);
  return { files: read.size, manifests: manifests.length, faulty: faulty.length };
}

/** Diagnostics of the selected files; all of them where everything is selected. */
export function ofSelection<One extends Diagnostic>(diagnostics: readonly One[], { paths }: Selection): readonly One[] {
  if (paths.length === 0) return diagnostics;
  const isSelected = (file: string): boolean => paths.some((path) => isUnder(path, file));
  return diagnostics.filter(
    ({ file, related = [] }) => file === null || isSelected(file) || related.some((other) => isSelected(other.file)),
  );
}

/** The commit that still identifies the plan: untracked files without manifests, such as a report, do not change it. */
export function commitWithout({ untracked }: RevisionFiles, { files }: Loaded["contents"]): string | null {
  if (untracked === undefined) return null;
  const others = files.filter(({ file }) => untracked.paths.has(file.path));
  const isEmpty = others.every(
    ({ content, diagnostics, isPatchFile }) =>
      content.declarations.length === 0 && !hasErrors(diagnostics) && isPatchFile !== true,
  );
  return isEmpty ? untracked.commit : null;
}

/** The files that differ from the commit of the folder, as reports name them. */
function uncommittedIn({ differing, files }: RevisionFiles): Pick<Desired, "uncommitted"> {
  if (differing === undefined) return {};
  return { uncommitted: new Set(files.flatMap(({ path, display }) => (differing.has(path) ? [display] : []))) };
}

/** The files of a source without the plans and reports of ours among them. */
export function withoutReports({ files }: Loaded["contents"]): RevisionFiles["files"] {
  return files.flatMap((each) => (isOurReport(each) ? [] : [each.file]));
}

/** How far a folder is from its commit: a plan or report of ours that lies in it is no change. */
export function changesOf(
  { added, changedSince }: RevisionFiles,
  { files }: Loaded["contents"],
): Pick<RevisionFiles, "changedSince"> {
  if (added === undefined || changedSince === undefined) return {};
  const reports = files.filter((each) => added.has(each.file.path) && isOurReport(each));
  return { changedSince: { ...changedSince, files: changedSince.files - reports.length } };
}
