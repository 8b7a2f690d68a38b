import { appendFile, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { readCommitFiles } from "../../../../src/source/git/read-commit.ts";
import type { Repository } from "../../../../src/source/git/repository-paths.ts";
import { diffTrees } from "../../../../src/source/git/tree.ts";
import { defaultLimits, type Limits } from "../../../../src/source/limits.ts";
import { commitBomb, commitNames, emptyRepository, numbered } from "../../../support/costly-repository.ts";
import { longestEventLoopDelay } from "../../../support/event-loop-delay.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { git } from "../../../support/git.ts";
import { signal } from "../source.ts";

/** No work goes on for longer without a turn of the event loop; many times what it should be. */
const LONGEST_MS = 500;

async function locate(root: string): Promise<Repository> {
  const repository = await findRepository(root, { signal });
  if (repository === null) throw new TypeError(`${root} is in no repository`);
  return repository;
}

async function read(root: string, ref = "main", limits: Partial<Limits> = {}) {
  const repository = await locate(root);
  return readCommitFiles(
    { root, repository, ref, cwd: root, limits: { ...defaultLimits, ...limits } },
    { clock: systemClock, signal },
  );
}

/** What reading ends with, and that the event loop turned meanwhile. */
async function outcome<Result>(work: () => Promise<Result>): Promise<Result | string> {
  let ended: Result | string = "";
  const longest = await longestEventLoopDelay(async () => {
    ended = await work().catch((error: unknown) => (error instanceof Error ? error.message : String(error)));
  });
  expect(longest).toBeLessThan(LONGEST_MS);
  return ended;
}

describe("S81 a repository that costs more to read than to send", () => {
  test("of many symbolic links is refused, and of fewer is read in a time that grows with their number", async () => {
    for (const name of ["l.yaml", "l"]) {
      const root = await emptyRepository();
      const names = numbered(20_000, (nth) => `${nth}${name}`);
      const commit = await commitNames(root, "120000", "elsewhere", names);
      expect(await outcome(() => read(root, commit))).toBe("the source has more than 10000 symbolic links");
      if (name === "l.yaml") continue;
      expect(await outcome(() => read(root, commit, { links: 20_000 }))).toMatchObject({ files: [] });
    }
  });

  test("of a tree that names one file 10^8 times is refused", async () => {
    const root = await emptyRepository();
    const commit = await commitBomb(root, 8);
    const limits = { entries: 50_000 };
    expect(await outcome(() => read(root, commit, limits))).toBe("the source has more than 50000 files");
  });

  test("of two trees that differ in too many files is not compared file by file", async () => {
    const root = await emptyRepository();
    const [before, commit] = [await commitBomb(root, 5), await commitBomb(root, 5, "y")];
    const repository = await locate(root);
    expect(await outcome(() => diffTrees(repository, { before, commit }, { clock: systemClock, signal }))).toBeNull();
    const [small, other] = [await commitBomb(root, 2), await commitBomb(root, 2, "y")];
    expect(await diffTrees(repository, { before: small, commit: other }, { clock: systemClock, signal })).toHaveLength(
      100,
    );
  });

  test("of one large file under many names looks into it once, and a small one is read once", async () => {
    const root = await emptyRepository();
    const names = numbered(5000, (nth) => `${nth}.yaml`);
    const commit = await commitNames(root, "100644", "# x\n".repeat(300_000), names);
    const calls = await countingGit();
    const revision = await outcome(() => calls.during(() => read(root, commit)));
    expect(revision).toMatchObject({ files: { length: 5000 } });
    expect(await calls.count()).toBeLessThan(10);
    const small = await emptyRepository();
    const many = numbered(4000, (nth) => `${nth}.yaml`);
    const named = await commitNames(small, "100644", "# x\n".repeat(60_000), many);
    const before = process.memoryUsage().arrayBuffers;
    const held = await outcome(() => read(small, named));
    expect(held).toMatchObject({ files: { length: 4000 } });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });

  test("of many different large files is refused", async () => {
    const root = await emptyRepository();
    for (const nth of numbered(3, String)) await appendFile(join(root, `${nth}.yaml`), `# ${nth}\n`.repeat(10));
    await git(root, "add", "--all");
    await git(root, "commit", "--quiet", "--message", "Begin");
    const limits = { fileBytes: 20, largeFiles: 2 };
    expect(await outcome(() => read(root, "main", limits))).toContain("the source has more than 2 files of more than");
  });
});

/** A `git` that notes each call. */
async function countingGit() {
  const folder = await temporaryFolder();
  const [calls, program] = [join(folder, "calls"), join(folder, "bin/git")];
  const path = process.env.PATH ?? "";
  await mkdir(join(folder, "bin"));
  await writeFile(calls, "");
  await writeFile(program, `#!/bin/sh\necho call >> ${calls}\nPATH='${path}' exec git "$@"\n`);
  await chmod(program, 0o755);
  return {
    count: async () => (await readFile(calls, "utf8")).split("\n").length - 1,
    during: async <Result>(work: () => Promise<Result>): Promise<Result> => {
      process.env.PATH = `${join(folder, "bin")}:${path}`;
      try {
        return await work();
      } finally {
        process.env.PATH = path;
      }
    },
  };
}
