import { mkdir, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import { git } from "./git.ts";
import type { Files } from "./manifests.ts";
import { upstreamOf } from "./upstream.ts";

/** A checkout as a git-sync sidecar keeps it: a work tree for each commit, and a link that is swapped to the newest one. */
export type SyncedCheckout = {
  /** The link. */
  readonly source: string;
  /** Commits these files upstream, swaps the link to that commit, and removes the work tree before; answers the commit. */
  readonly sync: (files: Files) => Promise<string>;
};

/** A checkout of these files. */
export async function syncedCheckout(files: Files): Promise<SyncedCheckout> {
  const upstream = await upstreamOf(files);
  const root = await temporaryFolder();
  const source = join(root, "current");
  await git(root, "init", "--quiet", "--bare", ".git");
  const checkOut = async (): Promise<string> => {
    const commit = await upstream.git("rev-parse", "HEAD");
    await git(root, "fetch", "--quiet", "--depth=1", upstream.folder, commit);
    await git(root, "worktree", "add", "--quiet", "--detach", `.worktrees/${commit}`, commit);
    // As git-sync writes it, since another container mounts the folder elsewhere.
    await writeFile(join(root, ".worktrees", commit, ".git"), `gitdir: ../../.git/worktrees/${commit}\n`);
    await symlink(join(".worktrees", commit), join(root, "next"));
    await rename(join(root, "next"), source);
    return commit;
  };
  await mkdir(join(root, ".worktrees"));
  await checkOut();
  return {
    source,
    sync: async (changed) => {
      const before = await readlink(source);
      await upstream.commit(changed);
      const commit = await checkOut();
      await rm(join(root, before), { recursive: true });
      await git(root, "worktree", "prune");
      return commit;
    },
  };
}
