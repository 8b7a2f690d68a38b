import { contentDigest } from "../contract/content-digest.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";
import { type FileState, isUntouched, stampOf } from "./file-stamp.ts";
import { FolderFile } from "./folder-file.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import { display, type FolderWalk, placeOf, warnOfSpecialFile } from "./walk-folder.ts";

/** Opens a file of a folder by its path below the root; null if it cannot be read. A file that is known is not read. */
export function openManifestFile(walk: FolderWalk, path: string): FolderFile | null {
  const { place, limits } = walk;
  const known = untouched(walk, path);
  if (known !== null) return new FolderFile(place, path, known, null);
  const opened = readRegularFile(placeOf(walk, path), limits.fileBytes);
  switch (opened.is) {
    case "read": {
      const { bytes, size, stamp } = opened;
      const digest = size === bytes.length ? contentDigest(bytes) : null;
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
