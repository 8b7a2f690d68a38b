import { basename } from "node:path/posix";
import type { FolderFile } from "./folder-file.ts";
import { blobId } from "./git/blobs.ts";
import { differs } from "./git/compare-to-commit.ts";
import { objectFormatOf } from "./git/git.ts";
import type { Head } from "./git/tree.ts";
import { isBelow } from "./git/tree-entry.ts";
import { IGNORE_FILE_BYTES, isManifestFile, isSkippedName, OWN_IGNORE_FILE } from "./ignore-files.ts";
import { fileStatus, readRegularFile } from "./read-regular-file.ts";
import { isOfPolicies } from "./source-root.ts";
import { type FolderWalk, placeOf } from "./walk-folder.ts";

/** Whether a walk of a checkout found exactly what its commit has, byte for byte, so that the index is not needed. */
export function equalsHead(walk: FolderWalk, walked: readonly FolderFile[], head: Head): boolean {
  const { blobs, links, submodules } = head;
  if (walk.absentStarts.length > 0 || walked.some((file) => differs(file, head))) return false;
  if (blobs.entries().some(([path, blob]) => basename(path) === OWN_IGNORE_FILE && !hasBlob(walk, path, blob)))
    return false;
  if (
    links.some((path) => !isSeenAs(walk, path, "link")) ||
    submodules.some((path) => !isSeenAs(walk, path, "folder"))
  ) {
    return false;
  }
  const paths = new Set(walked.map(({ path }) => path));
  return !blobs.keys().some((path) => !paths.has(path) && isManifestFile(basename(path)) && isWithin(walk, path));
}

// Otherwise the walk cannot have warned about it as it should: it is not there, or an ignore rule of git matches it.
function isSeenAs(walk: FolderWalk, path: string, what: "link" | "folder"): boolean {
  const status = fileStatus(placeOf(walk, path));
  if (!(what === "link" ? status?.isSymbolicLink() : status?.isDirectory())) return false;
  return !isIgnoredByGit(walk, path);
}

/** Whether the walk passed over a path, or a folder above it, because an ignore rule of git matches it. */
export function isIgnoredByGit(walk: FolderWalk, path: string): boolean {
  return walk.ignoredLinks.has(path) || foldersTo(path).some((each) => walk.leftOut.get(each)?.scope.isOwn === false);
}

// An ignore file that is not as it was committed may leave out other files.
function hasBlob(walk: FolderWalk, path: string, blob: string): boolean {
  const opened = readRegularFile(placeOf(walk, path), IGNORE_FILE_BYTES);
  return opened.is === "read" && blobId(opened.bytes, objectFormatOf(blob)) === blob;
}

/** Whether a tracked path lies below a starting point, and was neither read nor left out. */
export function isWithin(walk: FolderWalk, path: string): boolean {
  const steps = path.split("/");
  if (steps.slice(0, -1).some(isSkippedName) || walk.seen.has(path)) return false;
  if (!walk.starts.some((start) => isBelow(path, start) || isBelow(start, path))) return false;
  const isRead = isOfPolicies(walk.patches, path);
  return !foldersTo(path).some(
    (each) => walk.excluded.has(placeOf(walk, each)) || (!isRead && walk.leftOut.get(each)?.scope.isOwn),
  );
}

/** The folders above a path, from the top, and the path itself. */
export function foldersTo(path: string): readonly string[] {
  return path.split("/").map((_, index, steps) => steps.slice(0, index + 1).join("/"));
}
