import type { Stop } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { type GitResult, runGit } from "../remote/run-git.ts";
import { environmentOf, headCommit, isCommitName, resolveCommit } from "./git.ts";
import type { Repository } from "./repository-paths.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

/** The commit that `--base` names, and its relation to the history of the checkout. */
export type BaseCommit = {
  /** The name as given. */
  readonly ref: string;
  readonly commit: string;
  /** The commit that is checked out. */
  readonly head: string;
  /** The newest common ancestor of both. */
  readonly mergeBase: string;
  /** The number of commits of the base that the checkout lacks. */
  readonly behind: number;
};

/** Finds the base commit and the merge base with the checkout. */
export async function findBase(repository: TemporaryRepository, ref: string, stop: Stop): Promise<BaseCommit> {
  const commit = await resolveBase(repository, ref, stop);
  const head = await headCommit(repository, stop);
  if (head === null) {
    throw new HoldfastError("invalid", `the checkout has no commit to compare with ${ref}`, {
      hint: "commit first, or leave --base out",
    });
  }
  const { code, stdout, ...found } = await runInRepository(repository, ["merge-base", commit, head], stop);
  const mergeBase = stdout.trim();
  if (code !== 0 || mergeBase === "") throw unrelated(repository, ref, { code, stdout, ...found });
  const behind = mergeBase === commit ? 0 : await countCommits(repository, `${head}..${commit}`, ref, stop);
  return { ref, commit, head, mergeBase, behind };
}

/** The full id of the commit that `--base` names. */
export async function resolveBase(repository: TemporaryRepository, ref: string, stop: Stop): Promise<string> {
  try {
    return await resolveCommit(repository, ref, stop);
  } catch (error) {
    stop.signal.throwIfAborted();
    const better = isCommitName(ref) ? await whyUnresolved(repository, ref, stop) : null;
    if (better === null || !(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    throw new HoldfastError("invalid", better.message ?? error.message, { hint: better.hint, cause: error });
  }
}

type Explanation = { readonly message: string | null; readonly hint: string };

async function whyUnresolved(repository: TemporaryRepository, ref: string, stop: Stop): Promise<Explanation | null> {
  const { code, stdout } = await runInRepository(repository, ["cat-file", "-t", ref], stop);
  const type = stdout.trim();
  if (code === 0 && type !== "commit" && type !== "tag") {
    return { message: `${ref} names a ${type}, not a commit`, hint: "name a branch, a tag or a commit" };
  }
  const remote = await objectNamed(repository, `refs/remotes/origin/${ref}^{commit}`, stop);
  if (remote !== null) return { message: null, hint: `did you mean --base origin/${ref}?` };
  if (!repository.isShallow) return null;
  return {
    message: `this shallow clone has no commit ${ref}`,
    hint: `fetch it with its history: git fetch --unshallow origin ${branchOf(ref)} (in CI, fetch-depth: 0)`,
  };
}

async function countCommits(repository: TemporaryRepository, range: string, ref: string, stop: Stop): Promise<number> {
  const counted = await runInRepository(repository, ["rev-list", "--count", range, "--"], stop);
  if (counted.code !== 0) throw gitFailure(repository, ref, counted);
  return Number(counted.stdout);
}

/** The id of the object that a name resolves to; null if there is none. */
export async function objectNamed(repository: Repository, name: string, stop: Stop): Promise<string | null> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", name];
  const { code, stdout } = await runInRepository(repository, args, stop);
  return code === 0 ? stdout.trim() : null;
}

/** Runs git in a repository. */
export function runInRepository(
  repository: Repository,
  args: readonly string[],
  { signal, input = [] }: Stop & { readonly input?: Iterable<Uint8Array | string> },
): Promise<GitResult> {
  return runGit(args, { folder: repository.gitFolder, env: environmentOf(repository), signal, input });
}

/** Runs git for what a repository says of commits by their full ids; reads that share what they read run it once. */
export function askOfCommits(
  repository: Repository,
  args: readonly string[],
  stop: Stop & { readonly input?: readonly string[] },
): Promise<GitResult> {
  const ask = () => runInRepository(repository, args, stop);
  return repository.reads?.outputs(JSON.stringify([args, stop.input]), stop, ask) ?? ask();
}

function unrelated(repository: TemporaryRepository, ref: string, result: GitResult): HoldfastError {
  if (result.code !== 1) return gitFailure(repository, ref, result);
  if (repository.isShallow) {
    return new HoldfastError("invalid", `this shallow clone has no commit that ${ref} and this branch share`, {
      hint: `fetch the history of both: git fetch --unshallow origin ${branchOf(ref)} (in CI, fetch-depth: 0)`,
    });
  }
  return new HoldfastError("invalid", `${ref} and this branch share no history`, {
    hint: "name the branch that this one was created from",
  });
}

/** The error for a git command that failed on a base; in a partial clone, that objects are missing. */
export function gitFailure(
  repository: TemporaryRepository,
  ref: string,
  { stderr, code }: Pick<GitResult, "stderr" | "code">,
): HoldfastError {
  const cause = new Error(stderr === "" ? `git ended with ${code}` : stderr);
  if (repository.isPartial) return missingObjects(ref, cause);
  return new HoldfastError("error", `git cannot compare with ${ref}`, {
    hint: "check the repository with git fsck",
    cause,
  });
}

/** The error for a partial clone that lacks objects of a ref. */
export function missingObjects(ref: string, cause: unknown): HoldfastError {
  return new HoldfastError("invalid", `this partial clone lacks objects of ${ref}`, {
    hint: "fetch them: git fetch --refetch --no-filter origin",
    cause,
  });
}

// The name of a branch at its remote: `main` for `origin/main`.
function branchOf(ref: string): string {
  return ref.replace(/^(?:refs\/remotes\/)?origin\/|^refs\/(?:heads|tags)\//, "").replace(/[~^].*$/, "");
}
