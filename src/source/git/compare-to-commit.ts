import { join } from "node:path";
import { isManifestFile, isPassedOver } from "../ignore-files.ts";
import { lookAt } from "../read-regular-file.ts";
import type { RevisionFiles, SourceFile } from "../revision.ts";
import type { Head } from "./tree.ts";

/** Where files were looked for: a root, and the starting points below it. */
export type Searched = { readonly root: string; readonly starts: readonly string[] };

/**
 * How a folder stands to its commit: it is that where every file that was read is the commit's, and none of the commit's is
 * missing. Where all that differs are files that the commit does not have, it is the commit unless those hold manifests.
 */
export function commitOfFolder(
  files: readonly SourceFile[],
  head: Head,
  searched: Searched,
): Pick<RevisionFiles, "commit" | "untracked" | "changedSince"> {
  // Each is asked, while what was read of it is still held.
  const others = files.filter(({ path, blob }) => blob !== null && head.blobs.get(path) !== blob);
  const { commit } = head;
  const missing = missingFiles(files, head, searched).reduce((sum) => sum + 1, 0);
  if (others.length + missing === 0) return { commit };
  const changedSince = { commit, files: others.length + missing };
  if (missing > 0 || others.some(({ path }) => head.blobs.has(path))) return { commit: null, changedSince };
  return { commit: null, changedSince, untracked: { commit, paths: new Set(others.map(({ path }) => path)) } };
}

/** The files of a commit that its folder has no more, by path relative to the root. */
export function missingFiles(
  files: readonly SourceFile[],
  head: Head,
  { root, starts }: Searched,
): IteratorObject<string> {
  const read = new Set(files.map(({ path }) => path));
  return head.blobs.keys().filter((path) => {
    const steps = path.split("/");
    if (read.has(path) || steps.some(isPassedOver) || !isManifestFile(steps.at(-1) ?? "")) return false;
    if (!starts.some((start) => isBelow(path, start))) return false;
    // What we did not read was passed over if it is still there.
    return lookAt(join(root, path))?.isFile() !== true;
  });
}

/** Whether a path is the starting point or lies below it. */
export function isBelow(path: string, start: string): boolean {
  return start === "" || path === start || path.startsWith(`${start}/`);
}
