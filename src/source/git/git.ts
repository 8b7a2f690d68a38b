import { dirname, join } from "node:path";
import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Repository } from "./repository-paths.ts";

/** Hash that a repository names its objects with. */
export type ObjectFormat = "sha1" | "sha256";

/** The format of a full object id. */
export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? "sha256" : "sha1";
}

/** A call that can be stopped. */
export type Stop = { readonly signal: AbortSignal };

// Only what is named here reaches git: no prompt, no transport, no system configuration, no locks, messages in English.
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
  };
}

type Environment = { readonly [name: string]: string };

/** The environment of every call about a repository: git is told where it is, and searches for none itself. */
export function environmentOf({ top, gitFolder, commonFolder, isTemporary }: Repository): Environment {
  return {
    ...environment(),
    // Nobody's configuration is there.
    ...(isTemporary ? { HOME: gitFolder, GIT_ATTR_NOSYSTEM: "1" } : {}),
    GIT_DIR: gitFolder,
    GIT_COMMON_DIR: commonFolder,
    ...(top === null ? {} : { GIT_WORK_TREE: top }),
    // The repository's own configuration could name a program here.
    ...configured({ "core.fsmonitor": "false", "safe.bareRepository": "explicit" }),
  };
}

// Settings that overrule every configuration file.
function configured(settings: { readonly [key: string]: string }): Environment {
  const pairs = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${pairs.length / 2}`, ...Object.fromEntries(pairs) };
}

/** Where git is run for a repository. */
export function folderOf({ top, gitFolder }: Repository): string {
  return top ?? gitFolder;
}

/** Runs git about a repository; answers what it printed. */
export function gitOf(repository: Repository, args: readonly string[], stop: Stop): Promise<string> {
  return gitAt(folderOf(repository), environmentOf(repository), args, stop);
}

async function gitAt(folder: string, env: Environment, args: readonly string[], { signal }: Stop): Promise<string> {
  // A source outside of any repository does without.
  const { simpleGit } = await import("simple-git");
  const git = simpleGit({
    baseDir: folder,
    abort: signal,
    trimmed: false,
    allowEnvironment: Object.keys(env),
    // The keys and values are the constants above.
    unsafe: { allowUnsafeConfigEnvCount: true, allowUnsafeFsMonitor: true },
    // Without this, a failure that prints nothing would pass for an empty answer.
    errors: (error, { exitCode, stdErr }) => {
      const said = Buffer.concat(stdErr).toString("utf8");
      if (exitCode === 0 && !said.includes("is ambiguous")) return undefined;
      return error ?? new Error(said === "" ? `git ended with ${exitCode}` : said);
    },
  }).env(env);
  return git.raw(...args);
}

/** Whether git takes another user's repository at this folder, since `safe.directory` names it. */
export async function acceptsOwner(folder: string, stop: Stop): Promise<boolean> {
  // Git asks who owns it only where it searches itself; it must find what lies here, and nothing further up.
  const found = { GIT_CEILING_DIRECTORIES: dirname(folder), ...configured({ "safe.bareRepository": "all" }) };
  try {
    await gitAt(folder, { ...environment(), ...found }, ["rev-parse", "--git-dir"], stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    // Where git is not there, nothing is taken from the repository.
    return isMissing(error);
  }
}

/** The commit that a checkout stands on; null where there is none. */
export async function headCommit(repository: Repository, stop: Stop): Promise<string | null> {
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], stop)).trim() || null;
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}

// What may be in the name of a commit: no option, no range, no path, nothing a shell or git reads as syntax.
const REF = /^(?!-)(?!.*(?:\.\.|@\{|\/\/))[\w./@+#=-]{1,250}(?:[~^]\d{0,6}){0,8}$/;

/** Whether a text may be the name of a commit, and nothing else to git. */
export function isCommitName(ref: string): boolean {
  return REF.test(ref);
}

/** The full id of the commit that a name stands for. */
export async function resolveCommit(repository: Repository, ref: string, stop: Stop): Promise<string> {
  if (!isCommitName(ref)) throw noCommit(ref, "A commit is named by its id, a branch or a tag.");
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`], stop)).trim();
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = errorMessage(error);
    if (said.includes("is ambiguous")) throw ambiguous(ref);
    if (isNoRepository(said) || isMissing(error)) throw repositoryFailure(repository, error);
    throw noCommit(ref, `Is it spelled right, and fetched? Try git fetch origin ${ref.replace(/^origin\//, "")}.`);
  }
}

/** Whether the index of a checkout has a path, or anything below it; relative to its top. */
export async function isTracked(repository: Repository, path: string, stop: Stop): Promise<boolean> {
  const command = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--cached", "-z", "--", path];
  try {
    // An answer without a word would be waited for 50 ms longer.
    await gitOf(repository, command, stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = errorMessage(error);
    if (said.includes("did not match any file")) return false;
    if (!isNoRepository(said)) throw repositoryFailure(repository, error);
    // What only looks like a repository tracks nothing; one that lies elsewhere, and cannot be reached, may.
    if (repository.gitFolder === join(folderOf(repository), ".git")) return false;
    throw new HoldfastError("error", "the repository of the checkout cannot be reached", { cause: error });
  }
}

// What git itself says begins otherwise, whatever a folder is called.
const isMissing = (error: unknown) => errorMessage(error).startsWith("Error: spawn git ENOENT");

const isNoRepository = (said: string) => said.includes("not a git repository");

function ambiguous(ref: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names more than one commit here`, {
    hint: "Write refs/heads/… or refs/tags/… in full, or more of the commit's id.",
  });
}

function noCommit(ref: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names no commit of this repository`, { hint });
}

/** What to say where git failed in a repository. */
export function repositoryFailure(repository: Repository, cause: unknown): HoldfastError {
  const said = errorMessage(cause);
  if (isNoRepository(said)) return noRepository(folderOf(repository), cause);
  if (isMissing(cause)) return new HoldfastError("error", "git is not installed, or not in PATH", { cause });
  return new HoldfastError("error", "git failed", { hint: "Run `git status` in the source to see why.", cause });
}

/** What to say where a repository is needed and there is none. */
export function noRepository(folder: string, cause?: unknown): HoldfastError {
  return new HoldfastError("invalid", `${folder} is in no git repository`, {
    hint: "--base and git sources need one.",
    cause,
  });
}
