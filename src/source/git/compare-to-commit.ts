import type { RevisionFiles, SourceFile } from "../revision.ts";
import type { Head } from "./tree.ts";

/**
 * Compares a folder with its commit. They are equal if every file that was read is the same in the commit, and no file
 * of the commit is missing. If only files differ that the commit does not have, they are reported as untracked: the
 * folder still equals the commit unless those files hold manifests.
 */
export function commitOfFolder(
  files: readonly SourceFile[],
  head: Head,
  missing: number,
): Pick<RevisionFiles, "commit" | "untracked" | "changedSince" | "added" | "differing"> {
  const others = files.filter((file) => differs(file, head));
  const { commit } = head;
  if (others.length + missing === 0) return { commit };
  const changedSince = { commit, files: others.length + missing };
  const added = new Set(others.flatMap(({ path }) => (head.blobs.has(path) ? [] : [path])));
  const isEqualBut = missing === 0 && added.size === others.length;
  const differing = new Set(others.map(({ path }) => path));
  return {
    commit: null,
    changedSince,
    added,
    differing,
    ...(isEqualBut ? { untracked: { commit, paths: added } } : {}),
  };
}

/** Whether a file is not the same in a commit. The blob id is computed now, while the content is still in memory. */
export function differs({ path, blob }: SourceFile, { blobs }: Head): boolean {
  return blob !== null && blobs.get(path) !== blob;
}
