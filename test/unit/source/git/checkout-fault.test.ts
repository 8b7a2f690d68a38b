import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkoutFault } from "../../../../src/source/git/checkout-fault.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { temporaryRepository } from "../../../../src/source/git/temporary-repository.ts";
import { commitAll, git } from "../../../support/git.ts";
import { folderOf, signal, write } from "../source.ts";

/** A checkout with the branches `main` and `change`, which conflict in a file, at `main`. */
async function checkout() {
  const root = await folderOf({ "a.yaml": "1\n", "holdfast.yaml": "paths: [a.yaml]\n" });
  const first = await commitAll(root, "Begin");
  await git(root, "switch", "--quiet", "--create", "change");
  write(root, { "a.yaml": "2\n" });
  const other = await commitAll(root, "Change");
  await git(root, "switch", "--quiet", "main");
  write(root, { "a.yaml": "3\n" });
  const newest = await commitAll(root, "Change it otherwise");
  const conflicting = (...args: readonly string[]) => git(root, ...args).catch(() => "it conflicts");
  const faultAt = async (branch = "main", commit: string | null = newest) => {
    const repository = await findRepository(root, { signal });
    const place = { root, branch, commit, checkout: { repository, isUnreadable: false, isForeign: false } };
    return (await checkoutFault(place, { signal }))?.message ?? null;
  };
  return { root, first, other, newest, conflicting, faultAt };
}

test("a checkout is ready at its branch, and detached at its commit, and nowhere else", async () => {
  const { root, first, other, newest, faultAt } = await checkout();
  expect(await faultAt()).toBeNull();
  expect(await faultAt("refs/heads/main")).toBeNull();
  expect(await faultAt("change")).toBe(`the checkout ${root} is at main, not at change`);
  expect(await faultAt("main", first)).toBe(`another commit was checked out in ${root} while it was read`);
  await git(root, "switch", "--quiet", "change");
  expect(await faultAt("main", other)).toBe(`the checkout ${root} is at change, not at main`);
  await git(root, "switch", "--quiet", "--detach", newest);
  expect(await faultAt()).toBeNull();
  await git(root, "switch", "--quiet", "--detach", first);
  expect(await faultAt("main", first)).toBe(`the checkout ${root} is detached at ${first.slice(0, 12)}, not at main`);
  await git(root, "switch", "--quiet", "main");
  appendFileSync(join(root, "holdfast.yaml"), "# changed\n");
  expect(await faultAt()).toBe(`${root}/holdfast.yaml differs from commit ${newest.slice(0, 12)} of main`);
  rmSync(join(root, "holdfast.yaml"));
  expect(await faultAt()).toContain("holdfast.yaml differs");
  rmSync(join(root, ".git"), { recursive: true });
  expect(await faultAt()).toBe(`the source ${root} is not a git checkout, but main is required`);
});

test("a checkout in which something is unfinished or unmerged is not at rest", async () => {
  const { root, other, conflicting, faultAt } = await checkout();
  const during = async (begin: readonly string[], end: readonly string[]) => {
    await conflicting(...begin);
    const message = await faultAt();
    await git(root, ...end);
    expect(await faultAt()).toBeNull();
    return message;
  };
  expect(await during(["merge", "change"], ["merge", "--abort"])).toMatch(/^a merge is in progress/);
  expect(await during(["rebase", "change"], ["rebase", "--abort"])).toMatch(/^a rebase is in progress/);
  expect(await during(["cherry-pick", other], ["cherry-pick", "--abort"])).toMatch(/^a cherry-pick is in progress/);
  expect(await during(["revert", "--no-edit", "HEAD~1"], ["revert", "--abort"])).toMatch(/^a revert is in progress/);
  expect(await during(["bisect", "start"], ["bisect", "reset"])).toMatch(/^a bisect is in progress/);
  // A stash leaves conflicts and nothing else.
  write(root, { "a.yaml": "4\n" });
  await git(root, "stash", "--quiet");
  write(root, { "a.yaml": "5\n" });
  await commitAll(root, "Change it again");
  await conflicting("stash", "pop");
  expect(await faultAt()).toBe(`the checkout ${root} has 1 unmerged path`);
});

test("a checkout of another user is looked at by git without its configuration", async () => {
  const { root, newest } = await checkout();
  const found = await findRepository(root, { signal });
  if (found === null) throw new TypeError("it is a repository");
  using repository = temporaryRepository(found);
  const place = { root, commit: newest, checkout: { repository, isUnreadable: false, isForeign: false } };
  expect(await checkoutFault({ ...place, branch: "main" }, { signal })).toBeNull();
  expect(await checkoutFault({ ...place, branch: "change" }, { signal })).not.toBeNull();
  const unreadable = { ...place, branch: "main", checkout: { repository, isUnreadable: true, isForeign: false } };
  expect((await checkoutFault(unreadable, { signal }))?.message).toMatch(/^git cannot read the checkout/);
});
