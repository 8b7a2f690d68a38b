import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { readRegularFile } from "../read-regular-file.ts";
import type { CommitReads } from "./commit-reads.ts";

/**
 * A git repository, located once. Every git command gets these folders, so that git does not search for a repository: a
 * bare repository among the files, or a `.git` that appears below, cannot replace it.
 */
export type Repository = {
  /** Top of the checkout; null for a bare repository. */
  readonly top: string | null;
  /** The `GIT_DIR`; for a linked worktree its own folder, for a submodule the one in its superproject. */
  readonly gitFolder: string;
  /** The `GIT_COMMON_DIR`, which linked worktrees share: objects, branches, tags, configuration. */
  readonly commonFolder: string;
  /** Whether it is a temporary git directory of ours, with no configuration of others. */
  readonly isTemporary?: true;
  /** What its reads share, where many targets read the same commits. */
  readonly reads?: CommitReads;
};

/** The top of the git checkout that contains a folder; null outside a checkout. */
export function checkoutTop(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (at === dirname(at)) return null;
  }
}

/** The top of the checkout that contains a folder after following links; null outside a checkout. */
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

/** The repository that a folder lies in, regardless of its owner; null if there is none. */
export function locateRepository(folder: string): Repository | null {
  const top = checkoutTop(folder);
  if (top === null) return isBare(folder) ? { top, gitFolder: folder, commonFolder: folder } : null;
  const gitFolder = gitFolderOf(join(top, ".git"));
  return { top, gitFolder, commonFolder: commonFolderOf(gitFolder) };
}

function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

// In a linked worktree or a submodule, `.git` is a file.
function gitFolderOf(path: string): string {
  if (statSync(path).isDirectory()) return realpathSync(path);
  const named = /^gitdir: (.+)$/.exec(lineOf(path) ?? "")?.[1];
  return named === undefined ? path : realPath(resolve(dirname(path), named));
}

function commonFolderOf(gitFolder: string): string {
  const named = lineOf(join(gitFolder, "commondir"));
  return named === null ? gitFolder : realPath(resolve(gitFolder, named));
}

/** The branch that a checkout is on; null if HEAD is detached. */
export function branchOf({ top, gitFolder }: Repository): string | null {
  if (top === null) return null;
  return /^ref: refs\/heads\/([^.].*)$/.exec(lineOf(join(gitFolder, "HEAD")) ?? "")?.[1] ?? null;
}

/** The default branch of the remote `origin`, as the clone recorded it; null if it is not known. */
export function defaultBranchOf({ commonFolder }: Repository): string | null {
  const line = lineOf(join(commonFolder, "refs", "remotes", "origin", "HEAD"));
  return /^ref: refs\/remotes\/origin\/([^.].*)$/.exec(line ?? "")?.[1] ?? null;
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

// If the path does not exist, git reports it.
function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}
