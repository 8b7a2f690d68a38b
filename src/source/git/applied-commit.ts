import type { Stop } from "../../clock/clock.ts";
import { objectNamed, runInRepository } from "./base-commit.ts";
import type { Repository } from "./repository-paths.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";

/** The ref that names the commit applied last. */
export type AppliedRef = {
  readonly ref: string;
  /** Whether the user named it, so that a missing ref is reported. */
  readonly isNamed: boolean;
};

/** The commit that such a ref names; trusted only if the base contains it. */
export type AppliedCommit =
  | { readonly is: "trusted"; readonly ref: string; readonly commit: string }
  | { readonly is: "untrusted"; readonly ref: string; readonly why: string; readonly hint: string | null };

/** The ref that names the commit last applied to a target. */
export function publishedRefOf(target: string): string {
  return `refs/holdfast/${target}`;
}

const FETCH = "fetch it: git fetch origin '+refs/holdfast/*:refs/holdfast/*'";
const HISTORY = "fetch the whole history: git fetch --unshallow origin (in CI, fetch-depth: 0)";

/** Reads which commit was applied last; null if the ref does not exist and the user did not name it. */
export async function findApplied(
  repository: Repository & Pick<TemporaryRepository, "isShallow">,
  { ref, isNamed }: AppliedRef,
  base: { readonly ref: string; readonly commit: string },
  stop: Stop,
): Promise<AppliedCommit | null> {
  const untrusted = (why: string, hint: string | null) => ({ is: "untrusted", ref, why, hint }) as const;
  const exists = (await objectNamed(repository, ref, stop)) !== null;
  if (!exists) return isNamed ? untrusted("it is not in this checkout", FETCH) : null;
  const commit = await objectNamed(repository, `${ref}^{commit}`, stop);
  const unreadable = repository.isShallow ? HISTORY : FETCH;
  if (commit === null) return untrusted("its commit is not in this checkout", unreadable);
  const { code } = await runInRepository(repository, ["merge-base", "--is-ancestor", commit, base.commit], stop);
  if (code === 0) return { is: "trusted", ref, commit };
  const why = `${base.ref} does not contain its commit ${commit.slice(0, 12)}`;
  return untrusted(why, repository.isShallow ? HISTORY : null);
}
