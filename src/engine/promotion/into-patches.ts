import type { Stop } from "../../clock/clock.ts";
import { isObject } from "../../contract/json.ts";
import { requireKind } from "../../core/kind.ts";
import { patchChanges } from "../../core/patch/document-changes.ts";
import type { ManifestUpdate } from "../../core/report/events.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { PatchSet } from "../../manifests/read-patches.ts";
import type { RevisionFiles } from "../../source/revision.ts";
import { formatOf } from "../../yaml/document.ts";
import { type FileEdits, textOf } from "./file-edits.ts";

/** The patches of a target, and where their changes are collected. */
export type PatchesToChange = Stop & {
  readonly patches: PatchSet;
  /** The folder of patch files. */
  readonly folder: string;
  readonly files: FileEdits;
  readonly revision: RevisionFiles;
  /** Whether a new document behind all others is needed. */
  readonly isBehind: boolean;
};

/** The file for new patches of what no patch matches yet. */
const NEW_FILE = "promoted.yaml";

/** Changes the patches of a target so that a manifest comes out as promoted. */
export async function intoPatches(
  { identity, kind, before, after }: ManifestUpdate,
  { patches, folder, files, revision, isBehind, signal }: PatchesToChange,
): Promise<void> {
  const { shape } = requireKind(kindsByType, kind);
  const matching = patches.of(identity);
  const { changed, added } = patchChanges(shape, { identity, before, after }, isBehind ? [] : matching);
  for (const [{ file, document, locate }, patch] of changed) {
    const value = isObject(document.value) ? document.value : {};
    const change = { line: locate("/match", "key").line, before: value, after: { ...value, patch } };
    files.change(file, await textOf(file, signal), identity, change);
  }
  if (added === null) return;
  const last = matching.findLast(({ file }) => formatOf(file.path) === "yaml")?.file;
  const path = last?.path ?? `${folder}/${NEW_FILE}`;
  const existing = revision.filesByPath.named(path);
  const text = existing === undefined ? null : await textOf(existing, signal);
  files.add(path, text, identity, { match: identity, patch: added });
}
