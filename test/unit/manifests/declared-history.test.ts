import { execFileSync } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { DeclaredHistory } from "../../../src/manifests/declared-history.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readCommitHistory } from "../../../src/source/read-commit-history.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll, git } from "../../support/git.ts";
import { type Files, team } from "../../support/manifests.ts";
import { sourceOf } from "../../support/source.ts";

const { signal } = new AbortController();
const loading = { rules: {}, limits: defaultLimits, now: new Date() };

async function historyOf(folder: string, { most = 1000 } = {}): Promise<DeclaredHistory> {
  const tip = await git(folder, "rev-parse", "HEAD");
  const place = { root: folder, cwd: folder, base: null, commits: null, limits: defaultLimits };
  const history = await readCommitHistory(
    { ...place, tip, most, paths: undefined, uncommitted: null },
    { clock: systemClock, signal },
  );
  if (history === null) throw new Error("no history");
  return new DeclaredHistory(history, { ...loading, clock: systemClock, patchFiles: [] });
}

/** A repository with one commit for each of these steps; a null removes the file. */
async function repositoryOf(steps: readonly { readonly [file: string]: string | null }[]) {
  const source = await sourceOf({});
  const commits: string[] = [];
  for (const step of steps) {
    for (const [file, text] of Object.entries(step)) {
      if (text === null) await rm(join(source.folder, file));
      else await source.write(file, text);
    }
    commits.push(await commitAll(source.folder, "Change"));
  }
  return { folder: source.folder, commits };
}

const removedIn = async (folder: string, declared: readonly string[], most = 1000) => {
  const { removed, reach } = await (await historyOf(folder, { most })).removed(new Set(declared), { signal });
  return { removed: [...removed].map(([identity, { commit }]) => [identity, commit]), reach };
};

test("tells which commit removed a manifest, not which one moved it, in files of several manifests too", async () => {
  const { folder, commits } = await repositoryOf([
    { "a.yaml": team("a"), "b.yaml": `${team("b")}---\n${team("c")}`, "charts/x.yaml": team("x"), "notes.md": "b" },
    { "moved/a.yaml": team("a"), "a.yaml": null },
    { "b.yaml": team("b", "eve@example.com") },
    { "b.yaml": null, ".holdfastignore": "charts\n" },
    { "charts/x.yaml": null },
  ]);
  expect(await removedIn(folder, ["team/a"])).toEqual({
    removed: [
      ["team/b", commits[3]],
      ["team/c", commits[2]],
    ],
    reach: { commits: 5, ended: "start" },
  });
  const [, author] = [...(await (await historyOf(folder)).removed(new Set(), { signal })).removed.values()];
  expect(author).toMatchObject({ author: "Ada <ada@example.com>", at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
});

test("reads as many commits as asked, along the first parents, and says how far a shallow clone goes", async () => {
  const { folder } = await repositoryOf([{ "a.yaml": team("a"), "b.yaml": team("b") }, { "a.yaml": null }]);
  await git(folder, "checkout", "-q", "-b", "side");
  const other: Files = { "side.yaml": team("side") };
  for (const [file, text] of Object.entries(other))
    await (await import("node:fs/promises")).writeFile(join(folder, file), text);
  await commitAll(folder, "Side");
  await rm(join(folder, "side.yaml"));
  await commitAll(folder, "Never on main");
  await git(folder, "checkout", "-q", "main");
  await rm(join(folder, "b.yaml"));
  await commitAll(folder, "Remove b");
  await git(folder, "merge", "-q", "--no-ff", "-m", "Merge", "side");
  const merge = await removedIn(folder, []);
  expect(merge.removed.map(([identity]) => identity)).toEqual(["team/b", "team/a"]);
  expect(await removedIn(folder, [], 2)).toMatchObject({
    removed: [["team/b", expect.any(String)]],
    reach: { commits: 2, ended: "limit" },
  });
  expect(await removedIn(folder, [], 0)).toEqual({ removed: [], reach: { commits: 0, ended: "limit" } });
  const shallow = await temporaryFolder();
  await git(shallow, "clone", "-q", "--depth", "1", `file://${folder}`, "clone");
  expect(await removedIn(join(shallow, "clone"), [])).toEqual({ removed: [], reach: { commits: 1, ended: "shallow" } });
});

test("finds the manifests of a resource, newest first, under whatever path they were", async () => {
  const { folder } = await repositoryOf([
    { "a.yaml": team("a", "one@example.com"), "other.yaml": team("other") },
    { "a.yaml": team("a", "two@example.com"), "other.yaml": team("other", "eve@example.com") },
    { "a.yaml": null, "b.yaml": team("a", "three@example.com") },
    { "b.yaml": "type: team\nname: a\nmembers: [broken\n" },
    { "b.yaml": team("a", "four@example.com") },
  ]);
  const found = await (await historyOf(folder)).manifestsOf(new Set(["team/a"]), { signal });
  expect([...found].map(([identity, manifests]) => [identity, manifests.map(({ members }) => members)])).toEqual([
    ["team/a", [["three@example.com"], ["two@example.com"], ["one@example.com"]]],
  ]);
});

test("answers from the commits that it has read when reading all of them takes too long", async () => {
  const { folder } = await repositoryOf([{ "a.yaml": team("a") }]);
  const commit = `commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 0\n`;
  const input = `${commit}from refs/heads/main^0\n${commit.repeat(260)}${commit}D a.yaml\n`;
  execFileSync("git", ["fast-import", "--quiet"], { cwd: folder, input });
  const bin = await temporaryFolder();
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const second = `case "$*" in *diff-tree*) mkdir "${bin}/first" 2>/dev/null || exec sleep 60;; esac`;
  await writeFile(join(bin, "git"), `#!/bin/sh\n${second}\nexec "${real}" "$@"\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${bin}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await removedIn(folder, [])).toEqual({
    removed: [["team/a", expect.any(String)]],
    reach: { commits: 250, ended: "cut" },
  });
});
