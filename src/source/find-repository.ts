import { basename, dirname, join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { acceptsOwner, type Stop } from "./git.ts";
import { lookAt } from "./open.ts";
import { locateRepository, type Repository } from "./repository.ts";

/** The repository that a folder belongs to; null where it belongs to none. Fails where it is another user's. */
export async function findRepository(folder: string, stop: Stop): Promise<Repository | null> {
  const repository = locateRepository(folder);
  if (repository !== null) await refuseForeign(repository, stop);
  return repository;
}

// Whoever owns a repository says what its commits are, and may have set up programs for git to run. Git looks at the
// owner only where it searches for the repository itself.
async function refuseForeign({ top, gitFolder, commonFolder }: Repository, stop: Stop): Promise<void> {
  const own = top === null ? [gitFolder] : [top, join(top, ".git"), gitFolder];
  if (own.some(isForeign)) await mustBeAccepted(top ?? gitFolder, stop);
  if (commonFolder !== gitFolder && isForeign(commonFolder)) await mustBeAccepted(checkoutOf(commonFolder), stop);
}

function checkoutOf(gitFolder: string): string {
  return basename(gitFolder) === ".git" ? dirname(gitFolder) : gitFolder;
}

function isForeign(path: string): boolean {
  const stats = lookAt(path);
  const user = process.geteuid?.();
  if (stats === undefined || user === undefined || stats.uid === user) return false;
  // Through sudo, as git has it, the caller's repositories count as one's own.
  const { SUDO_UID = "" } = process.env;
  return !(user === 0 && /^\d+$/.test(SUDO_UID) && stats.uid === Number(SUDO_UID));
}

async function mustBeAccepted(folder: string, stop: Stop): Promise<void> {
  if (await acceptsOwner(folder, stop)) return;
  throw new HoldfastError("invalid", `the git repository ${folder} belongs to another user`, {
    // A shell must take it for one word, whatever it is called.
    hint: `if you trust it: git config --global --add safe.directory '${folder.replaceAll("'", "'\\''")}'`,
  });
}
