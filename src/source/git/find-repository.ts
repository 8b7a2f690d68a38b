import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { isAtOrBelow, relativePath } from "../../files/real-path.ts";
import { fileStatus } from "../read-regular-file.ts";
import { acceptsOwner } from "./git.ts";
import { locateRepository, type Repository } from "./repository-paths.ts";

/** A repository, and whether another user owns it: then git must not read its configuration. */
export type FoundRepository = Repository & { readonly isForeign: boolean };

/**
 * The repository that a folder belongs to; null if there is none. A repository of another user is accepted if that user
 * also owns the folder and the working directory in it, such as a checkout that another container created. Otherwise it
 * is refused: another user may have placed it above a folder of the caller.
 */
export async function findRepository(
  folder: string,
  stop: Stop,
  { cwd = folder }: { readonly cwd?: string } = {},
): Promise<FoundRepository | null> {
  const repository = locateRepository(folder);
  if (repository === null) return null;
  const { top, gitFolder, commonFolder } = repository;
  const own = top === null ? [gitFolder] : [top, join(top, ".git"), gitFolder];
  const checked = [
    { folder: top ?? gitFolder, paths: own },
    ...(commonFolder === gitFolder ? [] : [{ folder: checkoutOf(commonFolder), paths: [commonFolder] }]),
  ];
  const owners = new Set([folder, ...(isAtOrBelow(folder, cwd) ? [cwd] : [])].map(ownerOf));
  let foreign = false;
  for (const each of checked.filter(({ paths }) => paths.some(isForeign))) {
    if (await acceptsOwner(each.folder, stop)) continue;
    if (owners.size > 1 || each.paths.some((path) => isForeign(path) && !owners.has(ownerOf(path))))
      throw refusal(each.folder);
    foreign = true;
  }
  return { ...repository, isForeign: foreign };
}

/**
 * The repository of the caller that a folder belongs to, and the path of a file in its work tree; null if there is no work
 * tree, or it is another user's.
 */
export async function findInRepository(
  folder: string,
  file: string,
  stop: Stop,
): Promise<{ readonly repository: Repository; readonly path: string } | null> {
  const repository = await findRepository(folder, stop);
  if (repository === null || repository.top === null || repository.isForeign) return null;
  return { repository, path: relativePath(repository.top, realpathSync(file)) };
}

function ownerOf(path: string): number | undefined {
  return fileStatus(path)?.uid;
}

function checkoutOf(gitFolder: string): string {
  return basename(gitFolder) === ".git" ? dirname(gitFolder) : gitFolder;
}

function isForeign(path: string): boolean {
  const stats = fileStatus(path);
  const user = process.geteuid?.();
  if (stats === undefined || user === undefined || stats.uid === user) return false;
  // With sudo, the repositories of the calling user count as own ones, as in git.
  const { SUDO_UID = "" } = process.env;
  return !(user === 0 && /^\d+$/.test(SUDO_UID) && stats.uid === Number(SUDO_UID));
}

function refusal(folder: string): HoldfastError {
  return new HoldfastError("invalid", `the git repository ${folder} belongs to another user`, {
    // Quoted, so that a shell reads any path as one word.
    hint: `if you trust it: git config --global --add safe.directory '${folder.replaceAll("'", "'\\''")}'`,
  });
}
