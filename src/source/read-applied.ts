import { type AppliedCommit, type AppliedRef, findApplied } from "./git/applied-commit.ts";
import { isShallow } from "./git/first-parent-line.ts";
import { readCommitFiles } from "./git/read-commit.ts";
import { openOwnCheckout } from "./open-own-checkout.ts";
import type { Pace } from "./pacer.ts";
import type { HistoryOptions } from "./read-commit-history.ts";
import type { RevisionFiles } from "./revision.ts";

/** The commit that a ref names, and its files; null files if it is not trusted. */
export type AppliedFiles = { readonly applied: AppliedCommit; readonly files: RevisionFiles | null };

/** Reads the commit that was applied last, if the commit of the source contains it; null if there is no such ref. */
export async function readApplied(
  { applied: ref, tip, ...options }: HistoryOptions & { readonly applied: AppliedRef },
  pace: Pace,
): Promise<AppliedFiles | null> {
  using resources = new DisposableStack();
  const opened = await openOwnCheckout(options, resources, pace);
  if (opened === null) return null;
  const { repository, root } = opened;
  const base = { ref: "the source", commit: tip };
  const applied = await findApplied({ ...repository, isShallow: isShallow(repository) }, ref, base, pace);
  if (applied === null) return null;
  if (applied.is === "untrusted") return { applied, files: null };
  const { paths, cwd, limits } = options;
  const reading = { root, repository, ref: applied.commit, cwd, limits, ...(paths ? { paths } : {}) };
  return { applied, files: await readCommitFiles(reading, pace) };
}
