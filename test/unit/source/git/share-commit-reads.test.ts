import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { readBlobs } from "../../../../src/source/git/blobs.ts";
import { readCommitFiles } from "../../../../src/source/git/read-commit.ts";
import type { Repository } from "../../../../src/source/git/repository-paths.ts";
import { shareCommitReads } from "../../../../src/source/git/share-commit-reads.ts";
import { diffTrees, listTree } from "../../../../src/source/git/tree.ts";
import { entriesAround, indexOf, type TreeEntry } from "../../../../src/source/git/tree-entry.ts";
import { defaultLimits } from "../../../../src/source/limits.ts";
import { commitAll, git } from "../../../support/git.ts";
import { type Files, folderOf, pathsOf, signal, textsOf, write } from "../source.ts";

const pace = { clock: systemClock, signal };

// A clock whose timers a test fires.
function idleClock() {
  const timers = new Set<() => void>();
  const after = (_: number, call: () => void): Disposable => {
    timers.add(call);
    return { [Symbol.dispose]: () => void timers.delete(call) };
  };
  return { after, waiting: () => timers.size, fire: () => [...timers].map((call) => call()) };
}

async function repositoryOf(files: Files) {
  const root = await folderOf(files);
  const commit = await commitAll(root, "Begin");
  const gitFolder = join(root, ".git");
  const plain: Repository = { top: null, gitFolder, commonFolder: gitFolder };
  const clock = idleClock();
  const shared = shareCommitReads(plain, clock);
  onTestFinished(() => shared.reads?.release());
  return { root, commit, plain, shared, clock };
}

const at = (repository: Repository, ref: string, paths: readonly string[]) =>
  readCommitFiles(
    {
      root: repository.gitFolder,
      cwd: repository.gitFolder,
      repository,
      ref,
      paths,
      limits: defaultLimits,
      isOurs: true,
    },
    pace,
  );

describe("reads of a repository that share what they have read", () => {
  test("give what reads of their own give, below any starting points", async () => {
    const { root, plain, shared } = await repositoryOf({
      ".holdfastignore": "*.local.yaml\n/deep/skipped\n",
      "a.yaml": "a",
      "deep/.holdfastignore": "c.yaml\n",
      "deep/b.yaml": "b",
      "deep/c.yaml": "c",
      "deep/d.local.yaml": "d",
      "deep/skipped/e.yaml": "e",
      "deeper/f.yaml": "f",
    });
    symlinkSync("../deeper", join(root, "deep", "link"));
    const submodule = `160000,${await git(root, "rev-parse", "HEAD")},sub`;
    await git(root, "update-index", "--add", "--cacheinfo", submodule);
    await git(root, "add", "deep/link");
    await git(root, "commit", "--quiet", "--message", "Bring more than files");
    const commit = await git(root, "rev-parse", "HEAD");
    const starts = [
      ["."],
      ["deep"],
      ["deep", "deep/b.yaml", "deeper"],
      ["deep/skipped"],
      ["a.yaml"],
      ["sub/x"],
      ["gone"],
    ];
    for (const paths of starts) {
      const outcomes = [plain, shared].map(async (repository) => {
        const { files, diagnostics, leftOut } = await at(repository, commit, paths);
        return {
          texts: await textsOf(files),
          files: files.map(({ path, blob }) => [path, blob]),
          diagnostics,
          leftOut,
        };
      });
      const [own, together] = await Promise.allSettled(outcomes);
      expect(together, paths.join(" ")).toEqual(own);
    }
  });

  test("list a commit and compare two of them once", async () => {
    const { root, commit, shared } = await repositoryOf({ "a/x.yaml": "x", "b/y.yaml": "y" });
    write(root, { "a/x.yaml": "z" });
    const next = await commitAll(root, "Change");
    const [first, second] = await Promise.all([listTree(shared, commit, pace), listTree(shared, commit, pace)]);
    expect(second).toBe(first);
    expect(await listTree(shared, commit, pace, { paths: ["b/y.yaml", "b"] })).toEqual(first.slice(1));
    const changes = await diffTrees(shared, { before: commit, commit: next }, pace);
    expect(changes).toMatchObject([{ path: "a/x.yaml", isContent: true }]);
    expect(await diffTrees(shared, { before: commit, commit: next }, pace)).toBe(changes);
  });

  test("are not stopped by one that is stopped", async () => {
    const { commit, shared } = await repositoryOf({ "a.yaml": "a" });
    const stopped = new AbortController();
    const first = listTree(shared, commit, { signal: stopped.signal });
    const second = listTree(shared, commit, pace);
    stopped.abort(new Error("stopped"));
    await expect(first).rejects.toThrow("stopped");
    expect(await second).toHaveLength(1);
    const [{ blob } = { blob: "" }] = await second;
    const reading = readBlobs(shared, [blob], { signal: AbortSignal.abort(new Error("stopped")) });
    await expect(reading).rejects.toThrow("stopped");
    expect(await readBlobs(shared, [blob], pace)).toEqual([Buffer.from("a")]);
  });

  test("read on after a blob that is missing", async () => {
    const { root, commit, shared } = await repositoryOf({ "a.yaml": "a", "b.yaml": "bb" });
    const missing = "0".repeat(40);
    const blobs = (await listTree(shared, commit, pace)).map(({ blob }) => blob);
    const reads = [[...blobs, missing], blobs, blobs.toReversed()].map((ids) => readBlobs(shared, ids, pace));
    const [broken, ...whole] = await Promise.allSettled(reads);
    expect(broken).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("could not read") },
    });
    expect(
      whole.map((each) => each.status === "fulfilled" && each.value.map((one) => String(Buffer.from(one)))),
    ).toEqual([
      ["a", "bb"],
      ["bb", "a"],
    ]);
    expect(pathsOf(await at(shared, commit, ["b.yaml"]))).toEqual(["b.yaml"]);
    write(root, { "c.yaml": "later" });
    const later = await commitAll(root, "Add");
    expect(await textsOf((await at(shared, later, ["c.yaml"])).files)).toEqual(["later"]);
  });

  test("release it when nothing was read for a while, and not while something is read", async () => {
    const { commit, shared, clock } = await repositoryOf({ "a.yaml": "a" });
    const listing = listTree(shared, commit, pace);
    expect(clock.waiting()).toBe(0);
    const first = await listing;
    expect(clock.waiting()).toBe(1);
    clock.fire();
    expect(await listTree(shared, commit, pace)).not.toBe(first);
  });

  test("keep few commits", async () => {
    const { root, commit, shared } = await repositoryOf({ "a.yaml": "a" });
    const first = await listTree(shared, commit, pace);
    for (let at = 0; at < 8; at += 1) {
      write(root, { "a.yaml": `${at}` });
      await listTree(shared, await commitAll(root, "Change"), pace);
    }
    expect(await listTree(shared, commit, pace)).not.toBe(first);
  });
});

test("the entries around a starting point are those below it, and what decides about it", () => {
  const entry = (path: string, mode = "100644"): TreeEntry => ({ path, mode, blob: path, size: 1 });
  const entries = [
    entry(".holdfastignore"),
    entry("a/.holdfastignore"),
    entry("a/b/x.yaml"),
    entry("a/bc.yaml"),
    entry("b/.holdfastignore"),
    entry("sub", "160000"),
  ];
  const around = (...paths: string[]) =>
    entriesAround(indexOf(entries, ".holdfastignore"), paths).map(({ path }) => path);
  expect(around("a/b")).toEqual([".holdfastignore", "a/.holdfastignore", "a/b/x.yaml"]);
  expect(around("a", "a/b")).toEqual([".holdfastignore", "a/.holdfastignore", "a/b/x.yaml", "a/bc.yaml"]);
  expect(around("a/bc.yaml")).toEqual([".holdfastignore", "a/.holdfastignore", "a/bc.yaml"]);
  expect(around("sub/c")).toEqual([".holdfastignore", "sub"]);
  expect(around("")).toEqual(entries.map(({ path }) => path));
});
