import { join } from "node:path";
import { isManifestFile, isSkippedName } from "../ignore-files.ts";
import { fileStatus } from "../read-regular-file.ts";
import type { RevisionFiles, SourceFile } from "../revision.ts";
import type { Head } from "./tree.ts";

/** Where files were searched: a root, and the starting points below it. */
export type Searched = { readonly root: string; readonly starts: readonly string[] };

/**
 * Compares a folder with its commit. They are equal if every file that was read is the same in the commit, and no file
 * of the commit is missing. If only files differ that the commit does not have, they are reported as untracked: the
 * folder still equals the commit unless those files hold manifests.
 */
export function commitOfFolder(
  files: readonly SourceFile[],
  head: Head,
  searched: Searched,
): Pick<RevisionFiles, "commit" | "untracked" | "changedSince"> {
  // The blob id of every file is computed now, while its content is still in memory.
  const others = files.filter(({ path, blob }) => blob !== null && head.blobs.get(path) !== blob);
  const { commit } = head;
  const missing = missingFiles(files, head, searched).reduce((sum) => sum + 1, 0);
  if (others.length + missing === 0) return { commit };
  const changedSince = { commit, files: others.length + missing };
  if (missing > 0 || others.some(({ path }) => head.blobs.has(path))) return { commit: null, changedSince };
  return { commit: null, changedSince, untracked: { commit, paths: new Set(others.map(({ path }) => path)) } };
}

/** The files of a commit that its folder no longer has, by path relative to the root. */
export function missingFiles(
  files: readonly SourceFile[],
  head: Head,
  { root, starts }: Searched,
): IteratorObject<string> {
  const read = new Set(files.map(({ path }) => path));
  return head.blobs.keys().filter((path) => {
    const steps = path.split("/");
    if (read.has(path) || steps.some(isSkippedName) || !isManifestFile(steps.at(-1) ?? "")) return false;
    if (!starts.some((start) => isBelow(path, start))) return false;
    // A file that exists but was not read was skipped; it is not missing.
    return fileStatus(join(root, path))?.isFile() !== true;
  });
}

/** Whether a path is the starting point or lies below it. */
export function isBelow(path: string, start: string): boolean {
  return start === "" || path === start || path.startsWith(`${start}/`);
}
