import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { defaultLimits } from "../limits.ts";
import type { RevisionFiles } from "../revision.ts";
import { CONFIG_NAME } from "../source-root.ts";
import { objectNamed, runInRepository } from "./base-commit.ts";
import { changedFiles } from "./changed-files.ts";
import { objectFormatOf } from "./git.ts";
import type { Checkout } from "./open-checkout.ts";
import { branchOf, locateRepository, prefixIn, type Repository } from "./repository-paths.ts";
import { copyIndex } from "./temporary-repository.ts";
import { listTree } from "./tree.ts";

/** Why a checkout does not equal its branch, and how to fix it. */
export type CheckoutFault = { readonly message: string; readonly hint: string };

type Place = {
  readonly root: string;
  readonly branch: string;
  /** The commit that was checked out when the files were read. */
  readonly commit: string | null;
  readonly checkout: Pick<Checkout, "repository" | "isUnreadable" | "isForeign">;
};

/** Files that git keeps in its folder while an operation is in progress, and the commands that end it. */
const UNFINISHED = [
  ["rebase-merge", "a rebase", "git rebase --continue, or git rebase --abort"],
  ["rebase-apply", "a rebase or git am", "git rebase --continue or git am --continue, or --abort"],
  ["MERGE_HEAD", "a merge", "git merge --continue, or git merge --abort"],
  ["CHERRY_PICK_HEAD", "a cherry-pick", "git cherry-pick --continue, or git cherry-pick --abort"],
  ["REVERT_HEAD", "a revert", "git revert --continue, or git revert --abort"],
  ["sequencer", "a cherry-pick or a revert", "git cherry-pick --continue or git revert --continue, or --abort"],
  ["BISECT_LOG", "a bisect", "git bisect reset"],
] as const;

/**
 * Why a checkout is not ready at a branch; null if it is. A checkout is ready if it is on that branch, or detached at
 * its commit, without an operation in progress or unmerged paths, and its configuration file equals the committed one.
 */
export async function checkoutFault(place: Place, stop: Stop): Promise<CheckoutFault | null> {
  const { root, branch, checkout } = place;
  const located = locateRepository(root);
  const { repository } = checkout;
  if (located === null || repository === null) {
    return {
      message: `the source ${root} is not a git checkout, but ${branch} is required`,
      hint: "name a checkout, or leave --ref out",
    };
  }
  if (checkout.isUnreadable) {
    return {
      message: `git cannot read the checkout ${root}, but ${branch} is required`,
      hint: "make it readable, or leave --ref out",
    };
  }
  const unfinished = UNFINISHED.find(([file]) => existsSync(join(located.gitFolder, file)));
  if (unfinished !== undefined) {
    const [, what, hint] = unfinished;
    return { message: `${what} is in progress in the checkout ${root}`, hint: `finish it: ${hint}` };
  }
  if (repository.isTemporary) copyIndex(located, repository);
  return (
    (await branchFault({ ...place, repository }, stop)) ??
    (await unmergedFault(repository, root, stop)) ??
    (await commitFault({ ...place, repository, isForeign: checkout.isForeign }, stop))
  );
}

/** The fault of a checkout with uncommitted files; null if there are none. */
export function uncommittedFault({ commit, changedSince, root }: RevisionFiles): CheckoutFault | null {
  if (commit !== null || changedSince === undefined) return null;
  const files = changedSince.files === 1 ? "1 file" : `${changedSince.files} files`;
  return {
    message: `the checkout ${root} has ${files} changed since commit ${changedSince.commit.slice(0, 12)}`,
    hint: "git status lists them; commit or git stash them",
  };
}

/** The warning of a plan about a checkout that apply refuses. */
export function checkoutWarning({ message, hint }: CheckoutFault): Diagnostic {
  return {
    severity: "warning",
    code: "checkout-not-ready",
    summary: `${message}: apply refuses that`,
    detail: hint,
    file: null,
    line: null,
    column: null,
  };
}

type Readable = Omit<Place, "checkout"> & { readonly repository: Repository };

async function branchFault({ root, branch, repository }: Readable, stop: Stop): Promise<CheckoutFault | null> {
  const current = branchOf(repository);
  if (current === branch || `refs/heads/${current}` === branch) return null;
  const hint = `git switch ${branch.replace(/^refs\/heads\//, "")}, or name another one with --ref`;
  if (current !== null) {
    return { message: `the checkout ${root} is at ${current}, not at ${branch}`, hint };
  }
  const head = await commitOf(repository, "HEAD", stop);
  const named = [branch, `refs/heads/${branch}`, `refs/tags/${branch}`, `refs/remotes/origin/${branch}`];
  for (const ref of named) if (head !== null && head === (await commitOf(repository, ref, stop))) return null;
  return {
    message: `the checkout ${root} is detached at ${head?.slice(0, 12) ?? "no commit"}, not at ${branch}`,
    hint,
  };
}

async function unmergedFault(repository: Repository, root: string, stop: Stop): Promise<CheckoutFault | null> {
  // Git lists only paths below its working directory, so it runs at the top.
  const listing = ["-C", repository.top ?? root, "ls-files", "--unmerged", "-z"];
  const { code, stdout } = await runInRepository(repository, listing, stop);
  if (code !== 0 || stdout === "") return null;
  const paths = new Set(
    stdout
      .split("\0")
      .filter(Boolean)
      .map((entry) => entry.slice(entry.indexOf("\t") + 1)),
  );
  return {
    message: `the checkout ${root} has ${paths.size === 1 ? "1 unmerged path" : `${paths.size} unmerged paths`}`,
    hint: "git status lists them; resolve the conflicts and commit",
  };
}

async function commitFault(
  { root, branch, commit, repository, isForeign }: Readable & Pick<Checkout, "isForeign">,
  stop: Stop,
): Promise<CheckoutFault | null> {
  const head = await commitOf(repository, "HEAD", stop);
  if (head === null) return { message: `the checkout ${root} has no commit`, hint: "commit first" };
  if (head !== commit) {
    return { message: `another commit was checked out in ${root} while it was read`, hint: "run it again" };
  }
  // The configuration may lie outside the paths that manifests are read from.
  const path = prefixIn(repository, root) + CONFIG_NAME;
  const [committed] = await listTree(repository, head, stop, { paths: [path], withSizes: false });
  const blobs = new Map(committed === undefined ? [] : [[CONFIG_NAME, committed.blob]]);
  const at = { root, head: { blobs, format: objectFormatOf(head) }, isForeign, limit: defaultLimits.fileBytes };
  const changed = await changedFiles([CONFIG_NAME], at, stop);
  if (changed.length === 0) return null;
  return {
    message: `${join(root, CONFIG_NAME)} differs from commit ${head.slice(0, 12)} of ${branch}`,
    hint: "commit it, or git restore it",
  };
}

function commitOf(repository: Repository, ref: string, stop: Stop): Promise<string | null> {
  return objectNamed(repository, `${ref}^{commit}`, stop);
}
