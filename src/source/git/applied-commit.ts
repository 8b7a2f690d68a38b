import { objectNamed, runInRepository } from "./base-commit.ts";
import type { Stop } from "./git.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

/** The ref that says which commit was applied last. */
export type AppliedRef = {
  readonly ref: string;
  /** Whether somebody named it, so that its absence is told. */
  readonly isNamed: boolean;
};

/** What such a ref says; believed only where the base contains its commit. */
export type AppliedCommit =
  | { readonly is: "believed"; readonly ref: string; readonly commit: string }
  | { readonly is: "not-believed"; readonly ref: string; readonly why: string; readonly hint: string | null };

/** The ref that says which commit was last applied to a target. */
export function publishedRefOf(target: string): string {
  return `refs/holdfast/${target}`;
}

const FETCH = "fetch it: git fetch origin '+refs/holdfast/*:refs/holdfast/*'";
const HISTORY = "fetch the whole history: git fetch --unshallow origin (in CI, fetch-depth: 0)";

/** Reads which commit was applied last; null where there is no such ref, and nobody named one. */
export async function findApplied(
  repository: TemporaryRepository,
  { ref, isNamed }: AppliedRef,
  base: { readonly ref: string; readonly commit: string },
  stop: Stop,
): Promise<AppliedCommit | null> {
  const notBelieved = (why: string, hint: string | null) => ({ is: "not-believed", ref, why, hint }) as const;
  const exists = (await objectNamed(repository, ref, stop)) !== null;
  if (!exists) return isNamed ? notBelieved("it is not in this checkout", FETCH) : null;
  const commit = await objectNamed(repository, `${ref}^{commit}`, stop);
  const unreadable = repository.isShallow ? HISTORY : FETCH;
  if (commit === null) return notBelieved("its commit is not in this checkout", unreadable);
  const { code } = await runInRepository(repository, ["merge-base", "--is-ancestor", commit, base.commit], stop);
  if (code === 0) return { is: "believed", ref, commit };
  const why = `${base.ref} does not contain its commit ${commit.slice(0, 12)}`;
  return notBelieved(why, repository.isShallow ? HISTORY : null);
}
