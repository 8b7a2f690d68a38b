import type { Diagnostic } from "../../core/diagnostic.ts";
import type { InvalidManifest } from "../../core/invalid-manifest.ts";
import { isUnder, type Selection, selectNamed } from "../../core/selection/select.ts";
import type { RevisionFiles } from "../../source/revision.ts";
import type { Desired } from "./desired.ts";

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
export function refusedOf(refused: readonly InvalidManifest[], selection: Selection): readonly InvalidManifest[] {
  const ofKnownKind = refused.filter(({ kind }) => kind !== "");
  const others = refused.filter(({ kind }) => kind === "");
  return [...selectNamed(ofKnownKind, selection), ...selectNamed(others, { ...selection, kinds: [] })];
}

/** Counts what is selected. */
export function countSelection(
  { files }: Pick<RevisionFiles, "files">,
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
