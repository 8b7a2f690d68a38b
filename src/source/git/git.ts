// src/source/git: git work trees and commits. See docs/manifests.md#in-a-git-checkout.

import { dirname, join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Repository } from "./repository-paths.ts";

/** Hash algorithm of the object ids of a repository. */
export type ObjectFormat = "sha1" | "sha256";

/** The format of a full object id. */
export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? "sha256" : "sha1";
}

// The only variables that git gets: no prompt, no transport, no system configuration, no locks, messages in English.
function environment(): Environment {
  const { PATH = "/usr/bin:/bin", HOME = "/nonexistent" } = process.env;
  return {
    PATH,
    HOME,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    ...given(["GIT_ATTR_NOSYSTEM"]),
  };
}

/** The environment of git where no repository is read. */
export function outsideRepositories(): Environment {
  return { ...environment(), GIT_DIR: "/nonexistent" };
}

type Environment = { readonly [name: string]: string };

/** The environment of git for a repository: it names the folders, so that git does not search for a repository. */
export function environmentOf({ top, gitFolder, commonFolder, isTemporary }: Repository): Environment {
  return {
    ...environment(),
    // The folder has no user configuration.
    ...(isTemporary ? { HOME: gitFolder } : {}),
    GIT_DIR: gitFolder,
    GIT_COMMON_DIR: commonFolder,
    ...(top === null ? {} : { GIT_WORK_TREE: top }),
    ...configured(OVERRIDES),
  };
}

// The repository's own configuration could name a program here.
const OVERRIDES: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["safe.bareRepository", "explicit"],
];

/** The environment of git for a command that reads nothing but settings, as the environment of the user has them too. */
export function environmentForSettings(repository: Repository): Environment {
  const { GIT_CONFIG_NOSYSTEM: _, ...env } = environmentOf(repository);
  const count = Number(process.env.GIT_CONFIG_COUNT ?? 0);
  const theirs = Array.from({ length: Number.isInteger(count) && count > 0 ? Math.min(count, 1000) : 0 }, (_, nth) => {
    const [key = "", value = ""] = ["KEY", "VALUE"].map((what) => process.env[`GIT_CONFIG_${what}_${nth}`]);
    return [key, value] as const;
  }).filter(([key]) => key !== "");
  return { ...env, ...configured([...theirs, ...OVERRIDES]), ...given(SETTINGS_FROM) };
}

// Where git looks for the configuration of the user and of the machine, and what `git -c` gives to what it starts.
const SETTINGS_FROM = [
  "XDG_CONFIG_HOME",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_CONFIG_PARAMETERS",
];

function given(names: readonly string[]): Environment {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

// Settings that override every configuration file.
function configured(settings: readonly (readonly [string, string])[]): Environment {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${settings.length}`, ...Object.fromEntries(pairs) };
}

/** The working directory of git for a repository. */
export function folderOf({ top, gitFolder }: Repository): string {
  return top ?? gitFolder;
}

function gitOf(repository: Repository, args: readonly string[], stop: Stop): Promise<string> {
  return gitAt(folderOf(repository), environmentOf(repository), args, stop);
}

async function gitAt(folder: string, env: Environment, args: readonly string[], { signal }: Stop): Promise<string> {
  // Loaded on demand: a source outside any repository does not need it.
  const { simpleGit } = await import("simple-git");
  const git = simpleGit({
    baseDir: folder,
    abort: signal,
    trimmed: false,
    allowEnvironment: Object.keys(env),
    // The keys and values are the constants above.
    unsafe: { allowUnsafeConfigEnvCount: true, allowUnsafeFsMonitor: true },
    // Without this, a failure without output would be taken for an empty result.
    errors: (error, { exitCode, stdErr }) => {
      const stderr = Buffer.concat(stdErr).toString("utf8");
      if (exitCode === 0 && !stderr.includes("is ambiguous")) return undefined;
      return error ?? new Error(stderr === "" ? `git ended with ${exitCode}` : stderr);
    },
  }).env(env);
  return git.raw(...args);
}

/** Whether git accepts another user's repository at this folder, because `safe.directory` names it. */
export async function acceptsOwner(folder: string, stop: Stop): Promise<boolean> {
  // Git checks the owner only if it searches for the repository itself. It must find the one here, not one further up.
  const found = { GIT_CEILING_DIRECTORIES: dirname(folder), ...configured([["safe.bareRepository", "all"]]) };
  try {
    await gitAt(folder, { ...environment(), ...found }, ["rev-parse", "--git-dir"], stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    // Without git, nothing is read from the repository.
    return isMissing(error);
  }
}

/** The commit that is checked out; null if there is none. */
export async function headCommit(repository: Repository, stop: Stop): Promise<string | null> {
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], stop)).trim() || null;
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}

// Accepted names of commits: no option, range, path, or syntax of git or a shell.
const REF = /^(?!-)(?!.*(?:\.\.|@\{|\/\/))[\w./@+#=-]{1,250}(?:[~^]\d{0,6}){0,8}$/;

/** Whether git can read a text only as the name of a commit. */
export function isCommitName(ref: string): boolean {
  return REF.test(ref);
}

/** The full id of the commit that a name resolves to. */
export async function resolveCommit(repository: Repository, ref: string, stop: Stop): Promise<string> {
  if (!isCommitName(ref)) throw noCommit(ref, "A commit is named by its id, a branch or a tag.");
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`], stop)).trim();
  } catch (error) {
    stop.signal.throwIfAborted();
    const message = errorMessage(error);
    if (message.includes("is ambiguous")) throw ambiguous(ref);
    if (isNoRepository(message) || isMissing(error)) throw repositoryFailure(repository, error);
    throw noCommit(ref, `Is it spelled right, and fetched? Try git fetch origin ${ref.replace(/^origin\//, "")}.`);
  }
}

/** Whether the index of a checkout contains a path, relative to its top, or anything below it. */
export async function isTracked(repository: Repository, path: string, stop: Stop): Promise<boolean> {
  const command = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--cached", "-z", "--", path];
  try {
    // Not `--quiet`: simple-git waits 50 ms longer for a command without output.
    await gitOf(repository, command, stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    const message = errorMessage(error);
    if (message.includes("did not match any file")) return false;
    if (!isNoRepository(message)) throw repositoryFailure(repository, error);
    // A `.git` folder that is not a repository tracks nothing. A repository elsewhere that cannot be reached may track
    // it.
    if (repository.gitFolder === join(folderOf(repository), ".git")) return false;
    throw new HoldfastError("error", "the repository of the checkout cannot be reached", { cause: error });
  }
}

// Messages of git itself never begin like this, whatever a folder is called.
const isMissing = (error: unknown) => /^(?:Error: )?spawn git ENOENT/.test(errorMessage(error));

const isNoRepository = (message: string) => message.includes("not a git repository");

function ambiguous(ref: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names more than one commit here`, {
    hint: "Write refs/heads/… or refs/tags/… in full, or more of the commit's id.",
  });
}

function noCommit(ref: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names no commit of this repository`, { hint });
}

/** The error for a git command that failed in a repository. */
export function repositoryFailure(repository: Repository, cause: unknown): HoldfastError {
  const message = errorMessage(cause);
  if (isNoRepository(message)) return noRepository(folderOf(repository), cause);
  if (isMissing(cause)) return new HoldfastError("error", "git is not installed, or not in PATH", { cause });
  return new HoldfastError("error", "git failed", { hint: "Run `git status` in the source to see why.", cause });
}

/** The error for a folder without a repository where one is required. */
export function noRepository(folder: string, cause?: unknown): HoldfastError {
  return new HoldfastError("invalid", `${folder} is in no git repository`, {
    hint: "--base and git sources need one.",
    cause,
  });
}

/** A path in C-style quotes, as git reads any path from its files and its standard input. */
export function quotedPath(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
