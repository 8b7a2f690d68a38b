import { HoldfastError } from "../core/errors.ts";
import { digestOf } from "./content-digest.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import { isUntouched, stampOf } from "./file-stamp.ts";
import { FolderFile } from "./folder-file.ts";
import { commitOfFolder } from "./git/compare-to-commit.ts";
import { headOf } from "./git/tree.ts";
import type { FileState } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import { pacer } from "./pacer.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import { filesByPath, type RevisionFiles } from "./revision.ts";
import { realRoot, startsOf } from "./source-root.ts";
import {
  display,
  type FolderOptions,
  type FolderWalk,
  findManifestFiles,
  placeOf,
  startWalk,
  warnOfSpecialFile,
} from "./walk-folder.ts";

/** Reads the files of a folder in their current state. */
export async function readFolder(options: FolderOptions, { signal }: { signal: AbortSignal }): Promise<RevisionFiles> {
  signal.throwIfAborted();
  const root = realRoot(options.root);
  const { repository } = options;
  const head = repository === null || options.isUnreadable ? null : headOf(repository, root, { signal });
  // Awaited after the files are read: until then, an unhandled rejection would end the process.
  head?.catch(() => undefined);
  const walk = startWalk({ ...options, root });
  const pause = pacer(signal);
  const names = await findManifestFiles(walk, options.paths, pause);
  const files: FolderFile[] = [];
  let total = 0;
  for (const path of names) {
    const file = openManifestFile(walk, path);
    if (file !== null) files.push(file);
    total += file?.heldBytes ?? 0;
    if (total > options.limits.totalBytes) throw tooLarge(options.limits);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  const { at, diagnostics, place } = walk;
  const commit = await head;
  place.head = commit;
  const searched = { root, starts: startsOf(root, options.paths) };
  const checkedOut = commit === null ? { commit: null } : commitOfFolder(files, commit, searched);
  return { ...checkedOut, at, root, files, filesByPath: filesByPath(files), diagnostics };
}

function openManifestFile(walk: FolderWalk, path: string): FolderFile | null {
  const { place, limits } = walk;
  const known = untouched(walk, path);
  if (known !== null) return new FolderFile(place, path, known, null);
  const opened = readRegularFile(placeOf(walk, path), limits.fileBytes);
  switch (opened.is) {
    case "read": {
      const { bytes, size, stamp } = opened;
      const digest = size === bytes.length ? digestOf(bytes) : null;
      return new FolderFile(place, path, { digest, stamp, blob: null }, bytes);
    }
    case "not-a-file":
      warnOfSpecialFile(walk, path, "not a regular file");
      return null;
    case "gone":
      return null;
    default:
      walk.diagnostics.push(
        fileDiagnostic(
          "error",
          "unreadable",
          display(walk, path),
          "a file that cannot be read",
          "Its manifests are unknown. Allow reading it, or list it in .holdfastignore.",
        ),
      );
      return null;
  }
}

function untouched(walk: FolderWalk, path: string): FileState | null {
  const { knownFiles } = walk;
  const known = knownFiles?.files.get(path);
  if (knownFiles === undefined || known === undefined) return null;
  const stat = fileStatus(placeOf(walk, path));
  return stat?.isFile() && isUntouched(stampOf(stat), known.stamp, knownFiles.at) ? known : null;
}

function tooLarge({ totalBytes }: Limits): HoldfastError {
  const mebibytes = Math.floor(totalBytes / (1024 * 1024));
  return new HoldfastError("invalid", `the source's manifest files hold more than ${mebibytes} MiB together`, {
    hint: "Narrow it with `paths`, or list files that are not manifests in .holdfastignore.",
  });
}
