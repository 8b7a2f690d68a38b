import { equal, type JsonObject } from "../../contract/json.ts";
import { requireKind } from "../../core/kind.ts";
import type { LiveView } from "../../core/live.ts";
import type { Identity } from "../../core/manifest.ts";
import { requireOpened } from "../../core/recorded.ts";
import { withFileDigest } from "../../core/uploaded-files.ts";
import { kindsByType } from "../../kinds/index.ts";
import { isParsed, type SourceManifest } from "../../manifests/source-manifest.ts";
import type { Desired } from "../load/desired.ts";
import { type Undecided, withWaves } from "../observe/read-undecided.ts";
import { FilesError } from "./files-error.ts";
import { type FilesReading, readVersionFiles, type VersionFiles } from "./read-version-files.ts";

/** The files that manifests name. */
export type ObservedFiles = {
  readonly files: ReadonlyMap<Identity, VersionFiles>;
  /** Why they cannot be read. */
  readonly noFiles: ReadonlyMap<Identity, string>;
};

/** The manifests with the digests of the files that they name, and with the sources of live versions that have the same files. */
export async function withObservedFiles(
  undecided: Undecided,
  live: LiveView["live"],
  reading: Omit<FilesReading, "onRead">,
): Promise<Undecided & ObservedFiles> {
  const { desired, recorded } = undecided;
  const [files, noFiles] = [new Map<Identity, VersionFiles>(), new Map<Identity, string>()];
  const changed = new Map<Identity, { readonly before: JsonObject; readonly after: SourceManifest }>();
  for (const manifest of desired.manifests) {
    const { upload } = requireKind(kindsByType, manifest.kind);
    const path = isParsed(manifest) ? (upload?.path(manifest.value) ?? null) : null;
    if (upload === undefined || path === null || !isParsed(manifest)) continue;
    const { identity, value: before } = manifest;
    try {
      const read = await readVersionFiles(path, manifest, desired.filesPlace, { ...reading, onRead: () => undefined });
      files.set(identity, read);
      const known = recorded.get(identity);
      const value = withFileDigest(before, read.digest, upload, {
        live: live.get(identity) ?? { state: "unknown", reason: "no-read" },
        recorded: known === undefined ? null : requireOpened(known),
      });
      changed.set(identity, { before, after: { ...manifest, value } });
    } catch (error) {
      if (!(error instanceof FilesError)) throw error;
      noFiles.set(identity, error.message);
    }
  }
  if (changed.size === 0) return { ...undecided, files, noFiles };
  const manifests = desired.manifests.map((manifest) => changed.get(manifest.identity)?.after ?? manifest);
  const [base, applied] = [withSame(desired.base, changed), withSame(desired.applied, changed)];
  const current: Desired = { ...desired, manifests, base, applied };
  return { ...undecided, desired: current, waved: withWaves(current), files, noFiles };
}

// What is compared with a manifest has its digest too, if it is the same manifest.
function withSame(
  others: Desired["base"],
  changed: ReadonlyMap<Identity, { readonly before: JsonObject; readonly after: SourceManifest }>,
): Desired["base"] {
  if (others === null) return null;
  const found = new Map(others);
  for (const [identity, { before, after }] of changed) {
    const other = others.get(identity);
    if (other !== undefined && isParsed(after) && equal(other, before)) found.set(identity, after.value);
  }
  return found;
}
