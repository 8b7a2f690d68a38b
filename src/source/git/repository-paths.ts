import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { readRegularFile } from "../read-regular-file.ts";

/**
 * A git repository, found once. Every call of git names these folders, so that git searches for none itself: a bare
 * repository among the files, or a `.git` that appears below, cannot take its place.
 */
export type Repository = {
  /** Top of the checkout; null for a bare repository. */
  readonly top: string | null;
  /** The `GIT_DIR`: of a linked worktree its own folder, of a submodule the one in its superproject. */
  readonly gitFolder: string;
  /** What linked worktrees share: objects, branches, tags, configuration. */
  readonly commonFolder: string;
  /** Whether it is a git directory of our own, which nobody else has configured. */
  readonly isTemporary?: true;
};

/** The top of the git checkout that holds a folder, or null outside of any. */
export function checkoutTop(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return null;
  }
}

/** The top of the checkout that a folder lies in once links are followed, or null outside of any. */
export function checkoutAt(folder: string): string | null {
  return checkoutTop(realpathSync.native(folder));
}

/** A folder's path below the top of its repository, with a trailing `/`, or empty. */
export function prefixIn({ top, gitFolder }: Repository, folder: string): string {
  const path = relative(top ?? gitFolder, folder)
    .split(sep)
    .join("/");
  return path === "" ? "" : `${path}/`;
}

/** The repository that a folder lies in, whoever owns it; null where it lies in none. */
export function locateRepository(folder: string): Repository | null {
  const top = checkoutTop(folder);
  if (top === null) return isBare(folder) ? { top, gitFolder: folder, commonFolder: folder } : null;
  const gitFolder = gitFolderOf(join(top, ".git"));
  return { top, gitFolder, commonFolder: commonFolderOf(gitFolder) };
}

function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

// A linked worktree and a submodule have a file in place of the folder.
function gitFolderOf(path: string): string {
  if (statSync(path).isDirectory()) return realpathSync(path);
  const named = /^gitdir: (.+)$/.exec(lineOf(path) ?? "")?.[1];
  return named === undefined ? path : realPath(resolve(dirname(path), named));
}

function commonFolderOf(gitFolder: string): string {
  const named = lineOf(join(gitFolder, "commondir"));
  return named === null ? gitFolder : realPath(resolve(gitFolder, named));
}

/** The branch that a checkout is on; null where it is on none. */
export function branchOf({ top, gitFolder }: Repository): string | null {
  if (top === null) return null;
  return /^ref: refs\/heads\/([^.].*)$/.exec(lineOf(join(gitFolder, "HEAD")) ?? "")?.[1] ?? null;
}

const MAX_LINE_LENGTH = 8192;

function lineOf(path: string): string | null {
  const opened = readRegularFile(path, MAX_LINE_LENGTH);
  return opened.is === "read"
    ? Buffer.from(opened.bytes)
        .toString("utf8")
        .replace(/[\r\n]+$/, "")
    : null;
}

// Where it leads nowhere, git itself says so.
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
