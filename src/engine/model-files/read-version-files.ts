// src/engine/model-files: the files of a version on this machine. See docs/architecture.md#files-of-model-versions.

import { stat } from "node:fs/promises";
import { dirname, isAbsolute, resolve } from "node:path";
import type { Clock, Stop } from "../../clock/clock.ts";
import type { ManifestHead } from "../../core/manifest.ts";
import { treeDigest } from "../../model/tree-digest.ts";
import { type Stamp, stampOf } from "../../source/file-stamp.ts";
import { realRoot } from "../../source/source-root.ts";
import { FilesError } from "./files-error.ts";
import { type FilesFolder, findFiles, type UndigestedFile, unreadable } from "./find-files.ts";
import type { KnownDigests } from "./known-digests.ts";
import { digestFile, type VersionFile } from "./read-file.ts";

/** Where the files of versions are looked for. */
export type FilesPlace = {
  /** The folder of the source; null where its commits are read, which have no such files. */
  readonly source: string | null;
  /** The folder that the operator names for the files; null without one. */
  readonly modelRoot: string | null;
  /** The folder that files of manifests are relative to. */
  readonly cwd: string;
};

/** The files of a version, with the digest of their tree. */
export type VersionFiles = {
  readonly digest: string;
  readonly bytes: number;
  readonly files: readonly VersionFile[];
};

/** How files are read. */
export type FilesReading = Stop & {
  readonly clock: Clock;
  readonly known: KnownDigests;
  /** Called with how much of how much was read, after each part. */
  readonly onRead: (done: number, total: number) => void;
};

/** Reads the files that a manifest names by a path. A `FilesError` says why that is not possible. */
export async function readVersionFiles(
  path: string,
  manifest: ManifestHead,
  place: FilesPlace,
  reading: FilesReading,
): Promise<VersionFiles> {
  const { known, onRead } = reading;
  const { start, folder } = startOf(path, manifest, place);
  const found = await findFiles(start, folder, reading);
  const stamped = await Promise.all(found.map(async (file) => ({ ...file, stamp: await stampAt(file) })));
  const total = stamped.reduce((sum, { stamp }) => sum + stamp.size, 0);
  let done = 0;
  const onBytes = (bytes: number): void => {
    done += bytes;
    onRead(done, total);
  };
  const files: VersionFile[] = [];
  for (const file of stamped) files.push(await digestOf(file, onBytes, reading));
  await known.store();
  return { digest: treeDigest(files), bytes: files.reduce((sum, { size }) => sum + size, 0), files };
}

async function digestOf(
  { stamp, ...file }: UndigestedFile & { readonly stamp: Stamp },
  onBytes: (bytes: number) => void,
  reading: FilesReading,
): Promise<VersionFile> {
  const { known, clock } = reading;
  const digest = await known.find(file, stamp);
  if (digest !== null) {
    onBytes(stamp.size);
    return { ...file, stamp, size: stamp.size, digest };
  }
  const seenAt = clock.now();
  const read = await digestFile(file, onBytes, reading);
  known.note([read], seenAt);
  return read;
}

async function stampAt({ real, path }: UndigestedFile): Promise<Stamp> {
  return stampOf(
    await stat(real).catch((error: unknown) => {
      throw unreadable(path, error);
    }),
  );
}

function startOf(
  path: string,
  { file }: ManifestHead,
  { source, modelRoot, cwd }: FilesPlace,
): { readonly start: string; readonly folder: FilesFolder } {
  if (path === "") throw new FilesError("it names no file or folder: set `source.path`");
  if (isAbsolute(path)) throw new FilesError("its path is absolute: name it relative to the manifest, or to modelRoot");
  if (modelRoot !== null) {
    const root = rootOf(modelRoot, "modelRoot");
    return { start: resolve(root, path), folder: { root, title: "modelRoot" } };
  }
  if (source === null)
    throw new FilesError("a commit has no such files: the operator's key modelRoot names their folder");
  return {
    start: resolve(cwd, dirname(file), path),
    folder: { root: rootOf(source, "the source"), title: "the source" },
  };
}

function rootOf(folder: string, title: string): string {
  try {
    return realRoot(folder);
  } catch (error) {
    throw new FilesError(`${title} cannot be read`, { cause: error });
  }
}
