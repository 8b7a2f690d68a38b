import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { findBase } from "../../../../src/source/git/base-commit.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { environmentOf, headCommit } from "../../../../src/source/git/git.ts";
import { readCommitFiles, readFileAt } from "../../../../src/source/git/read-commit.ts";
import { branchOf, type Repository } from "../../../../src/source/git/repository-paths.ts";
import { temporaryRepository } from "../../../../src/source/git/temporary-repository.ts";
import { defaultLimits } from "../../../../src/source/limits.ts";
import { readFolder } from "../../../../src/source/read-folder.ts";
import { needsRoot } from "../../../support/as-root.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { commitAll, git } from "../../../support/git.ts";
import { type Files, folderOf, pathsOf, signal, textsOf, write } from "../source.ts";

async function found(root: string): Promise<Repository> {
  const repository = await findRepository(root, { signal });
  if (repository === null) throw new TypeError(`${root} is in no repository`);
  return repository;
}

/** What is read of a commit, of the folder, and of one file, all through one repository. */
async function readBy(repository: Repository, root: string) {
  const options = { root, cwd: root, repository, limits: defaultLimits };
  const [revision, folder] = [
    await readCommitFiles({ ...options, ref: "main" }, { clock: systemClock, signal }),
    await readFolder(options, { clock: systemClock, signal }),
  ];
  using temporary = temporaryRepository(repository);
  const config = await readFileAt({ ...options, ref: "main", path: "holdfast.yaml" }, { clock: systemClock, signal });
  return {
    commit: revision.commit,
    paths: pathsOf(revision),
    checkout: folder.commit,
    config: config === null ? null : (await textsOf([config]))[0],
    mergeBase: (await findBase(temporary, "main", { signal })).mergeBase,
  };
}

/** Puts a bare repository with a `main` of its own in a folder, as files that can be committed. */
async function plantBare(folder: string, files: Files): Promise<void> {
  const other = await folderOf(files);
  await commitAll(other, "Planted");
  execFileSync("cp", ["-r", `${other}/.git/.`, folder]);
  await git(folder, "--git-dir=.", "config", "core.bare", "true");
  // Empty folders are not committed, and git would not take it for a repository without them.
  write(folder, { "refs/keep": "", "objects/keep": "" });
}

afterEach(() => void vi.unstubAllEnvs());

describe("the repository of a source", () => {
  test("S42 is the checkout's, whatever bare repository lies in the source", async () => {
    const root = await folderOf({ "sub/a.yaml": "a", "sub/holdfast.yaml": "unknownFields: refuse\n" });
    const sub = join(root, "sub");
    await plantBare(sub, { "planted.yaml": "x", "holdfast.yaml": "unknownFields: warn\n" });
    const commit = await commitAll(root, "Begin");
    expect(await git(sub, "rev-parse", "main")).not.toBe(commit);
    expect(await readBy(await found(sub), sub)).toEqual({
      commit,
      paths: ["a.yaml"],
      checkout: commit,
      config: "unknownFields: refuse\n",
      mergeBase: commit,
    });
  });

  test("S42 stays what it was found to be when a .git appears below", async () => {
    const root = await folderOf({ "sub/a.yaml": "a", "sub/holdfast.yaml": "paths: [.]\n" });
    const commit = await commitAll(root, "Begin");
    const sub = join(root, "sub");
    const repository = await found(sub);
    write(sub, { "a.yaml": "b" });
    await commitAll(sub, "Planted");
    write(sub, { "a.yaml": "a" });
    const read = await readBy(repository, sub);
    expect(read).toMatchObject({ commit, paths: ["a.yaml"], checkout: commit, mergeBase: commit });
  });

  test("S42 of a linked worktree has its own head, and shares the rest", async () => {
    const root = await folderOf({ "a.yaml": "a", "holdfast.yaml": "paths: [.]\n" });
    const commit = await commitAll(root, "Begin");
    const worktree = join(await temporaryFolder(), "linked");
    await git(root, "worktree", "add", "-q", "-b", "change", worktree);
    write(worktree, { "b.yaml": "b" });
    const changed = await commitAll(worktree, "Change");
    write(join(root, ".git"), { "info/exclude": "private.yaml\n" });
    write(worktree, { "private.yaml": "p" });
    const repository = await found(worktree);
    expect(repository).toEqual({
      top: worktree,
      gitFolder: join(root, ".git/worktrees/linked"),
      commonFolder: join(root, ".git"),
      isForeign: false,
    });
    const read = await readBy(repository, worktree);
    expect(read).toMatchObject({ commit, paths: ["a.yaml"], checkout: changed, mergeBase: commit });
  });

  test("S42 of a submodule is the submodule's", async () => {
    const module = await folderOf({ "a.yaml": "a", "holdfast.yaml": "paths: [.]\n" });
    const commit = await commitAll(module, "Module");
    const root = await folderOf({ "b.yaml": "b" });
    await commitAll(root, "Begin");
    await git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "sub");
    const sub = join(root, "sub");
    const repository = await found(sub);
    expect(repository).toMatchObject({ top: sub, gitFolder: join(root, ".git/modules/sub") });
    expect(await readBy(repository, sub)).toMatchObject({ commit, paths: ["a.yaml"], checkout: commit });
  });

  test("S42 is found through a link in place of .git, and nowhere when that leads nowhere", async () => {
    const elsewhere = await folderOf({ "a.yaml": "a" });
    const commit = await commitAll(elsewhere, "Begin");
    const root = await folderOf({ "a.yaml": "a" });
    symlinkSync(join(elsewhere, ".git"), join(root, ".git"));
    expect(await headCommit(await found(root), { signal })).toBe(commit);
    const broken = await folderOf({ "a.yaml": "a", ".git": "gitdir: nowhere\n" });
    expect(await headCommit(await found(broken), { signal })).toBeNull();
    const senseless = await folderOf({ "a.yaml": "a", ".git": "something else\n" });
    expect(await headCommit(await found(senseless), { signal })).toBeNull();
  });

  test("S42 is not what the environment says", async () => {
    const root = await folderOf({ "a.yaml": "a", "holdfast.yaml": "paths: [.]\n" });
    const commit = await commitAll(root, "Begin");
    const other = await folderOf({ "b.yaml": "b" });
    await commitAll(other, "Other");
    vi.stubEnv("GIT_DIR", join(other, ".git"));
    vi.stubEnv("GIT_WORK_TREE", other);
    vi.stubEnv("GIT_COMMON_DIR", join(other, ".git"));
    vi.stubEnv("GIT_OBJECT_DIRECTORY", join(other, ".git/objects"));
    vi.stubEnv("GIT_INDEX_FILE", join(other, ".git/index"));
    expect(await readBy(await found(root), root)).toMatchObject({ commit, paths: ["a.yaml"], checkout: commit });
  });
});

describe("git, as it is called", () => {
  const run = (folder: string, env: { readonly [name: string]: string }, ...args: readonly string[]) =>
    execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

  test("S42 runs no file-system monitor of the repository's, even where it looks at the index", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "Begin");
    const marker = join(root, "ran");
    write(root, { "monitor.sh": `#!/bin/sh\ntouch ${marker}\n` });
    chmodSync(join(root, "monitor.sh"), 0o755);
    await git(root, "config", "core.fsmonitor", join(root, "monitor.sh"));
    const repository = await found(root);
    run(root, environmentOf(repository), "status", "--short");
    expect(existsSync(marker)).toBe(false);
    const { PATH = "" } = process.env;
    run(root, { PATH, GIT_DIR: repository.gitFolder }, "status", "--short");
    expect(existsSync(marker)).toBe(true);
  });

  test("S42 takes a bare repository only where it is named", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    const bare = join(root, "bare");
    mkdirSync(bare);
    await plantBare(bare, { "planted.yaml": "x" });
    const { GIT_DIR: _, GIT_COMMON_DIR: __, GIT_WORK_TREE: ___, ...unnamed } = environmentOf(await found(bare));
    expect(() => run(bare, unnamed, "rev-parse", "HEAD")).toThrow("cannot use bare repository");
    expect(await headCommit(await found(bare), { signal })).toMatch(/^[0-9a-f]{40}$/);
  });
});

describe("a repository of another user's", () => {
  const STRANGER = 12_345;
  beforeEach((context) => {
    needsRoot(context);
    vi.stubEnv("SUDO_UID", undefined);
  });

  const given = (...paths: readonly string[]) => {
    for (const path of paths) chownSync(path, STRANGER, STRANGER);
  };

  test("S42 is refused, with the remedy, when it lies in a folder of one's own", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    const commit = await commitAll(root, "Begin");
    given(join(root, ".git"));
    vi.stubEnv("HOME", await temporaryFolder());
    await expect(findRepository(root, { signal })).rejects.toMatchObject({
      code: "invalid",
      message: `the git repository ${root} belongs to another user`,
      hint: `if you trust it: git config --global --add safe.directory '${root}'`,
    });
    vi.stubEnv("HOME", await folderOf({ ".gitconfig": `[safe]\n\tdirectory = ${root}\n` }));
    expect(await headCommit(await found(root), { signal })).toBe(commit);
  });

  test("S42 is refused when only what its worktrees share is", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    const commit = await commitAll(root, "Begin");
    const worktree = join(await temporaryFolder(), "linked");
    await git(root, "worktree", "add", "-q", "-b", "change", worktree);
    given(join(root, ".git"));
    await expect(findRepository(worktree, { signal })).rejects.toThrow(`the git repository ${root} belongs`);
    vi.stubEnv("HOME", await folderOf({ ".gitconfig": `[safe]\n\tdirectory = ${root}\n` }));
    expect(await headCommit(await found(worktree), { signal })).toBe(commit);
  });

  test("S42 is refused whatever it is called, and is no repository where there is no git", async () => {
    const root = join(await folderOf({ "ENOENT's/a.yaml": "a" }), "ENOENT's");
    await commitAll(root, "Begin");
    given(join(root, ".git"));
    const refused = findRepository(root, { signal });
    await expect(refused).rejects.toMatchObject({ code: "invalid", hint: expect.stringMatching(/ENOENT'\\''s'$/) });
    vi.stubEnv("PATH", await temporaryFolder());
    expect(await headCommit(await found(root), { signal })).toBeNull();
  });

  test("S42 is taken when the folder is that user's too, and is marked so that git reads none of its configuration", async () => {
    vi.stubEnv("HOME", await temporaryFolder());
    const root = await folderOf({ "a.yaml": "a", "below/b.yaml": "b" });
    await commitAll(root, "Begin");
    given(root);
    expect(await findRepository(root, { signal })).toMatchObject({ top: root, isForeign: true });
    given(join(root, ".git"), join(root, ".git/config"));
    expect(await findRepository(root, { signal })).toMatchObject({ top: root, isForeign: true });
    vi.stubEnv("HOME", await folderOf({ ".gitconfig": `[safe]\n\tdirectory = ${root}\n` }));
    expect(await findRepository(root, { signal })).toMatchObject({ top: root, isForeign: false });
  });

  test("S42 is refused where it lies above a folder of one's own, or belongs to a third user", async () => {
    vi.stubEnv("HOME", await temporaryFolder());
    const root = await folderOf({ "a.yaml": "a", "below/b.yaml": "b" });
    await commitAll(root, "Begin");
    given(root, join(root, ".git"));
    await expect(findRepository(root, { signal }, { cwd: join(root, "below") })).rejects.toThrow("another user");
    await expect(findRepository(join(root, "below"), { signal })).rejects.toThrow("another user");
    chownSync(join(root, ".git"), STRANGER + 1, STRANGER + 1);
    await expect(findRepository(root, { signal })).rejects.toThrow("another user");
  });

  test("S42 is marked when it is a bare one", async () => {
    const root = join(await temporaryFolder(), "bare.git");
    mkdirSync(root);
    await plantBare(root, { "a.yaml": "a" });
    given(root);
    vi.stubEnv("HOME", await temporaryFolder());
    expect(await findRepository(root, { signal })).toMatchObject({ isForeign: true });
    vi.stubEnv("HOME", await folderOf({ ".gitconfig": `[safe]\n\tdirectory = ${root}\n` }));
    expect(await findRepository(root, { signal })).toMatchObject({ isForeign: false });
    expect(await headCommit(await found(root), { signal })).toMatch(/^[0-9a-f]{40}$/);
  });

  test("S42 is the caller's own under sudo, as git has it", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    const commit = await commitAll(root, "Begin");
    given(root, join(root, ".git"));
    vi.stubEnv("SUDO_UID", `${STRANGER + 1}`);
    expect(await findRepository(root, { signal })).toMatchObject({ isForeign: true });
    vi.stubEnv("SUDO_UID", `${STRANGER}`);
    expect(await findRepository(root, { signal })).toMatchObject({ isForeign: false });
    expect(await headCommit(await found(root), { signal })).toBe(commit);
  });
});

test("a checkout's branch is read of its HEAD, in a linked work tree too, and is none where it is detached", async () => {
  const root = await folderOf({ "a.yaml": "a" });
  await commitAll(root, "Begin");
  const linked = join(await temporaryFolder(), "linked");
  await git(root, "worktree", "add", "--quiet", "-b", "fix/one#2", linked);
  expect(branchOf(await found(root))).toBe("main");
  expect(branchOf(await found(linked))).toBe("fix/one#2");
  using temporary = temporaryRepository(await found(linked));
  expect(branchOf(temporary)).toBe("fix/one#2");
  await git(root, "checkout", "--quiet", "--detach");
  expect(branchOf(await found(root))).toBe(null);
});
