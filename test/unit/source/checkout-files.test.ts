import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { leftOutText } from "../../../src/render/left-out.ts";
import { findRepository } from "../../../src/source/git/find-repository.ts";
import { readCommitFiles } from "../../../src/source/git/read-commit.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import type { RevisionFiles } from "../../../src/source/revision.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll, git } from "../../support/git.ts";
import { brief, type Files, folderOf, pathsOf, read, signal, textsOf, write } from "./source.ts";

const team = "type: team\nname: ml\nmembers: [a@example.com]\n";

/** A checkout of a commit with these files, made anew, so that its filters and conversions apply. */
async function checkedOut(files: Files, settings: readonly string[] = []): Promise<string> {
  const { ".gitattributes": attributes = "", ...others } = files;
  const origin = await folderOf(others);
  await commitAll(origin, "Begin");
  // Attributes that are added later do not change how these contents are committed.
  write(origin, { ".gitattributes": attributes });
  await git(origin, "add", ".gitattributes");
  await git(origin, "commit", "--quiet", "--message", "Add attributes");
  const root = join(await temporaryFolder(), "checkout");
  await git(origin, "clone", "--quiet", ...settings.flatMap((each) => ["--config", each]), origin, root);
  return root;
}

async function stateOf(revision: RevisionFiles) {
  const texts = await textsOf(revision.files);
  return Object.fromEntries(revision.files.map(({ path }, index) => [path, texts[index]]));
}

/** The commit that a folder equals is its HEAD, and its files are these. */
async function expectUnchanged(root: string, files: Files): Promise<void> {
  const revision = await read(root);
  expect(await stateOf(revision)).toEqual(files);
  expect(revision.changedSince).toBeUndefined();
  expect(revision.commit).toBe(await git(root, "rev-parse", "HEAD"));
}

describe("what git calls unchanged is read as it was committed", () => {
  test.each([
    ["line ends", { "*": "" }, ["core.autocrlf=true"]],
    ["line ends of an attribute", { ".gitattributes": "*.yaml text eol=crlf\n" }, []],
    ["an encoding", { ".gitattributes": "*.yaml working-tree-encoding=UTF-16\n" }, []],
    [
      "an encoding with line ends",
      { ".gitattributes": "*.yaml text eol=crlf working-tree-encoding=UTF-16LE-BOM\n" },
      [],
    ],
  ] as const)("%s, written by git now or long ago", async (_, attributes, settings) => {
    const root = await checkedOut({ "team.yaml": team, ...attributes }, settings);
    expect(readFileSync(join(root, "team.yaml"), "utf8")).not.toBe(team);
    await expectUnchanged(root, { "team.yaml": team });
    utimesSync(join(root, "team.yaml"), 1e9, 1e9);
    await expectUnchanged(root, { "team.yaml": team });
    write(root, { "team.yaml": team.replace("ml", "web") });
    const changed = await read(root);
    expect(changed).toMatchObject({ commit: null, changedSince: { files: 1 } });
    expect(await stateOf(changed)).toEqual({ "team.yaml": team.replace("ml", "web") });
  });

  test("expanded ids", async () => {
    const text = `# $Id$\n${team}`;
    const root = await checkedOut({ ".gitattributes": "*.yaml ident\n", "team.yaml": text });
    expect(readFileSync(join(root, "team.yaml"), "utf8")).toMatch(/\$Id: [0-9a-f]{40} \$/);
    await expectUnchanged(root, { "team.yaml": text });
  });

  test("expanded ids in a text with CRLF, which git does not convert because the index has it so", async () => {
    const text = `# $Id$\n${team}`.replaceAll("\n", "\r\n");
    const root = await checkedOut({ ".gitattributes": "* text=auto ident\n", "team.yaml": text });
    await expectUnchanged(root, { "team.yaml": text });
  });

  test.each(["--assume-unchanged", "--skip-worktree"])(
    "by attributes that are in the index alone (%s)",
    async (mark) => {
      const files = { "a.yaml": team, "b/c.yaml": team };
      const attributes = "*.yaml text eol=crlf\n";
      const root = await checkedOut({ ".gitattributes": attributes, "b/.gitattributes": "c.yaml ident\n", ...files });
      for (const name of Object.keys(files)) utimesSync(join(root, name), 1e9, 1e9);
      await git(root, "update-index", mark, ".gitattributes", "b/.gitattributes");
      for (const folder of ["", "b"]) rmSync(join(root, folder, ".gitattributes"));
      await expectUnchanged(root, files);
    },
  );

  test("line ends where the text is the same, whatever wrote them; not where git would not convert them", async () => {
    const root = await checkedOut({ ".gitattributes": "a.yaml text\nb.yaml -text\n", "a.yaml": team, "b.yaml": team });
    write(root, { "a.yaml": team.replaceAll("\n", "\r\n") });
    await expectUnchanged(root, { "a.yaml": team, "b.yaml": team });
    write(root, { "b.yaml": team.replaceAll("\n", "\r\n") });
    expect(await read(root)).toMatchObject({ commit: null, changedSince: { files: 1 } });
  });

  test("S3 what a filter wrote, without running it; a file that was touched since is changed", async () => {
    const root = await checkedOut({ ".gitattributes": "*.yaml filter=secret\n", "a.yaml": team, "b.yaml": team });
    const ran = join(root, "..", "ran");
    await git(root, "config", "filter.secret.smudge", `touch '${ran}'; sed s/ml/smudged/`);
    await git(root, "config", "filter.secret.clean", `touch '${ran}'; sed s/smudged/ml/`);
    await git(root, "config", "filter.secret.required", "true");
    await git(root, "config", "core.fsmonitor", `touch '${ran}'`);
    for (const name of ["a.yaml", "b.yaml"]) rmSync(join(root, name));
    await git(root, "checkout", "--quiet", "--", ".");
    rmSync(ran);
    await expectUnchanged(root, { "a.yaml": team, "b.yaml": team });
    utimesSync(join(root, "a.yaml"), 1e9, 1e9);
    const touched = await read(root);
    expect(touched).toMatchObject({ commit: null, changedSince: { files: 1 } });
    expect(await stateOf(touched)).toEqual({ "a.yaml": team.replace("ml", "smudged"), "b.yaml": team });
    expect(existsSync(ran)).toBe(false);
  });

  test("S3 what a filter wrote, by those parts of the stamps in the index that git is told to look at", async () => {
    const root = await checkedOut({ ".gitattributes": "*.yaml filter=secret\n", "a.yaml": team });
    write(root, { "a.yaml": `# smudged\n${team}` });
    await git(root, "config", "filter.secret.clean", "grep -v smudged");
    utimesSync(join(root, "a.yaml"), 1e9, 1e9);
    await git(root, "update-index", "a.yaml");
    await expectUnchanged(root, { "a.yaml": team });
    // Another inode, as a copy of the checkout has them, then another part of the second.
    cpSync(join(root, "a.yaml"), join(root, "b"), { preserveTimestamps: true });
    renameSync(join(root, "b"), join(root, "a.yaml"));
    expect((await read(root)).commit).toBe(null);
    await git(root, "config", "core.trustctime", "false");
    expect((await read(root)).commit).toBe(null);
    await git(root, "config", "core.checkStat", "minimal");
    await expectUnchanged(root, { "a.yaml": team });
    utimesSync(join(root, "a.yaml"), 1e9, 1e9 + 0.5);
    await expectUnchanged(root, { "a.yaml": team });
    await git(root, "config", "core.trustctime", "true");
    // The time of the change is of another second.
    await git(root, "-c", "core.trustctime=false", "update-index", "--refresh");
    utimesSync(join(root, "a.yaml"), 1e9, 1e9 + 1);
    expect((await read(root)).commit).toBe(null);
  });

  test("line ends by a setting of the environment", async () => {
    const root = await checkedOut({ "a.yaml": team, "b.yaml": team });
    write(root, { "a.yaml": team.replaceAll("\n", "\r\n") });
    expect((await read(root)).commit).toBe(null);
    vi.stubEnv("GIT_CONFIG_COUNT", "2");
    for (const [nth, [key = "", value]] of [
      ["user.name", "x"],
      ["core.autocrlf", "true"],
    ].entries()) {
      vi.stubEnv(`GIT_CONFIG_KEY_${nth}`, key);
      vi.stubEnv(`GIT_CONFIG_VALUE_${nth}`, value);
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    await expectUnchanged(root, { "a.yaml": team, "b.yaml": team });
  });

  test.each([
    ["its configuration", "in", "in/holdfast.yaml", "{}\n", "server: https://x.io\n"],
    ["an ignore file", "in", "in/.holdfastignore", "x.yaml\n", "b.yaml\n"],
    ["an ignore file below", "in", "in/below/.holdfastignore", "x.yaml\n", "b.yaml\n"],
    ["an ignore file above", "in", ".holdfastignore", "x.yaml\n", "b.yaml\n"],
  ])("nothing where %s is changed, new or gone", async (_, folder, path, before, after) => {
    const top = await checkedOut({ "in/a.yaml": team, "in/below/b.yaml": team, [path]: before });
    const root = join(top, folder);
    expect((await read(root)).commit).toBe(await git(top, "rev-parse", "HEAD"));
    write(top, { [path]: after });
    const isChanged = { commit: null, changedSince: { commit: await git(top, "rev-parse", "HEAD") } };
    expect(await read(root)).toMatchObject(isChanged);
    expect(await read(root)).not.toHaveProperty("untracked");
    rmSync(join(top, path));
    expect(await read(root)).toMatchObject(isChanged);
    await git(top, "rm", "--quiet", "--cached", path);
    await git(top, "commit", "--quiet", "--message", "Remove it");
    expect((await read(root)).commit).toBe(await git(top, "rev-parse", "HEAD"));
    write(top, { [path]: after });
    expect(await read(root)).toMatchObject({ commit: null });
  });

  test("files marked assume-unchanged or skip-worktree, edited or removed", async () => {
    const files = { "a.yaml": team, "b.yaml": team, "c.yaml": team, "d.yaml": team };
    const root = await checkedOut(files);
    await git(root, "update-index", "--assume-unchanged", "a.yaml", "b.yaml");
    await git(root, "update-index", "--skip-worktree", "c.yaml", "d.yaml");
    write(root, { "a.yaml": "edited", "c.yaml": "edited" });
    for (const name of ["b.yaml", "d.yaml"]) rmSync(join(root, name));
    await expectUnchanged(root, files);
  });

  test("an ignore file marked skip-worktree and removed, which leaves out submodules too", async () => {
    const root = await folderOf({ "a.yaml": team, ".holdfastignore": "mods/\n" });
    await commitAll(root, "Begin");
    await git(root, "update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},mods/m.yaml`);
    await git(root, "commit", "--quiet", "--message", "Add a submodule");
    await git(root, "update-index", "--skip-worktree", ".holdfastignore");
    rmSync(join(root, ".holdfastignore"));
    write(root, { "mods/m.yaml/.git": "gitdir: nowhere\n" });
    expect((await read(root)).diagnostics).toEqual([]);
  });

  test("an ignore file marked assume-unchanged, which leaves out links too", async () => {
    const origin = await folderOf({ "a.yaml": team, ".holdfastignore": "linked.yaml\n" });
    symlinkSync("a.yaml", join(origin, "linked.yaml"));
    await commitAll(origin, "Begin");
    await git(origin, "update-index", "--assume-unchanged", ".holdfastignore");
    write(origin, { ".holdfastignore": "" });
    await expectUnchanged(origin, { "a.yaml": team });
    expect((await read(origin)).diagnostics).toEqual([]);
  });

  test("files whose mode alone differs", async () => {
    const root = await checkedOut({ "a.yaml": team });
    chmodSync(join(root, "a.yaml"), 0o755);
    await expectUnchanged(root, { "a.yaml": team });
  });

  test("with a split index, and with one of version 4", async () => {
    const root = await checkedOut({ ".gitattributes": "*.yaml eol=crlf\n", "a.yaml": team }, ["core.splitIndex=true"]);
    await expectUnchanged(root, { "a.yaml": team });
    await git(root, "update-index", "--no-split-index", "--index-version", "4");
    await expectUnchanged(root, { "a.yaml": team });
  });
});

describe("a sparse checkout", () => {
  const files = {
    "a/team.yaml": team,
    "b/team.yaml": team,
    "b/.holdfastignore": "left.yaml\n",
    "b/left.yaml": team,
    "c/team.yaml": team,
  };
  const all = { "a/team.yaml": team, "b/team.yaml": team, "c/team.yaml": team };

  test("has what is not checked out, as the index has it, in a cone and by patterns", async () => {
    const root = await checkedOut(files);
    for (const patterns of [
      ["a"],
      ["--sparse-index", "a"],
      ["--no-cone", "/a/"],
      ["--no-cone", "!b/.holdfastignore"],
    ]) {
      await git(root, "sparse-checkout", "set", ...patterns);
      await expectUnchanged(root, all);
      expect((await read(root)).leftOut).toEqual(new Map([["b/.holdfastignore", 1]]));
    }
    expect(pathsOf(await read(root, { paths: ["c"] }))).toEqual(["c/team.yaml"]);
    await expect(read(root, { paths: ["d"] })).rejects.toThrow("the path d does not exist");
  });

  test("has a file that is there in spite of its patterns as it is there, and lacks what was removed", async () => {
    const root = await checkedOut(files);
    await git(root, "sparse-checkout", "set", "a");
    write(root, { "c/team.yaml": "edited" });
    expect(await stateOf(await read(root))).toEqual({ ...all, "c/team.yaml": "edited" });
    rmSync(join(root, "a/team.yaml"));
    expect(await read(root)).toMatchObject({ commit: null, changedSince: { files: 2 } });
  });

  test("of a partial clone is refused where it needs what was not fetched", async () => {
    const origin = await folderOf(files);
    await commitAll(origin, "Begin");
    await git(origin, "config", "uploadpack.allowFilter", "true");
    const root = join(await temporaryFolder(), "checkout");
    await git(origin, "clone", "--quiet", "--sparse", "--filter=blob:none", `file://${origin}`, root);
    await git(root, "sparse-checkout", "set", "a");
    await expect(read(root)).rejects.toThrow("git has no content for b/.holdfastignore of the commit");
    expect(pathsOf(await read(root, { paths: ["a"] }))).toEqual(["a/team.yaml"]);
  });
});

describe("a tracked file", () => {
  test("counts even where an ignore rule of git matches it; others are counted by the file of the rule", async () => {
    const root = await folderOf({
      ".gitignore": "*.local.yaml\nout/\n",
      ".holdfastignore": "drafts/\n",
      "a.local.yaml": team,
      "out/b.yaml": team,
      "drafts/c.yaml": team,
      "drafts/more/d.yaml": team,
    });
    await git(root, "init", "--quiet");
    await git(root, "add", "--all", "--force");
    await git(root, "commit", "--quiet", "--message", "Begin");
    write(root, { "e.local.yaml": team, "out/deep/f.yaml": team, "out/g.txt": "" });
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["a.local.yaml", "out/b.yaml"]);
    expect(revision.commit).toBe(await git(root, "rev-parse", "HEAD"));
    const leftOut = new Map([
      [".gitignore", 2],
      [".holdfastignore", 2],
    ]);
    expect(new Map([...revision.leftOut].toSorted())).toEqual(leftOut);
  });

  test("is among more than are counted where the folder that an ignore file names is large", async () => {
    const root = await folderOf({ ".holdfastignore": "out/\n", "a.yaml": team, "out/b.yaml": "" });
    expect((await read(root)).isLeftOutMore).toBeUndefined();
    for (let nth = 0; nth < 5001; nth += 1) writeFileSync(join(root, `out/${nth}.yaml`), "");
    const revision = await read(root);
    expect([...revision.leftOut]).toEqual([[".holdfastignore", 5000]]);
    expect(leftOutText(revision, { width: 80 })).toBe("Ignored: more than 5000 files (5000 by .holdfastignore)\n");
  });

  test("that is a link is warned about in spite of an ignore rule of git", async () => {
    const root = await folderOf({ "a.yaml": team, "b/c.yaml": team });
    symlinkSync("a.yaml", join(root, "linked.yaml"));
    symlinkSync("b", join(root, "folder"));
    await commitAll(root, "Begin");
    const warnings = [
      "folder:null:null warning not-a-regular-file",
      "linked.yaml:null:null warning not-a-regular-file",
    ];
    write(root, { ".git/info/exclude": "linked.yaml\nfolder\n" });
    expect(brief((await read(root)).diagnostics).toSorted()).toEqual(warnings);
    await expectUnchanged(root, { "a.yaml": team, "b/c.yaml": team });
  });

  test("that was staged counts as staged, and one that is only intended to be added as untracked", async () => {
    const root = await checkedOut({ "a.yaml": team, "b.yaml": team, ".gitattributes": "*.yaml eol=crlf\n" });
    const staged = team.replace("ml", "staged");
    write(root, { "a.yaml": staged.replaceAll("\n", "\r\n"), "new.yaml": team });
    await git(root, "add", "a.yaml");
    await git(root, "add", "--intent-to-add", "new.yaml");
    await git(root, "rm", "--quiet", "--cached", "b.yaml");
    const revision = await read(root);
    expect(revision).toMatchObject({ commit: null, changedSince: { files: 3 } });
    expect(await stateOf(revision)).toMatchObject({ "a.yaml": staged, "new.yaml": team });
  });

  test("that is checked out as a file because links are off is the link that it is in the commit", async () => {
    const origin = await folderOf({ "real/a.yaml": team });
    symlinkSync("real/a.yaml", join(origin, "linked.yaml"));
    await commitAll(origin, "Begin");
    const root = join(await temporaryFolder(), "checkout");
    await git(origin, "clone", "--quiet", "--config", "core.symlinks=false", origin, root);
    await expectUnchanged(root, { "real/a.yaml": team });
    expect(brief((await read(root)).diagnostics)).toEqual(["linked.yaml:null:null warning not-a-regular-file"]);
    // A rule of git for untracked files changes nothing.
    write(root, { ".git/info/exclude": "linked.yaml\n" });
    expect(brief((await read(root)).diagnostics)).toEqual(["linked.yaml:null:null warning not-a-regular-file"]);
    writeFileSync(join(root, "linked.yaml"), team);
    const changed = await read(root);
    expect(changed).toMatchObject({ commit: null, changedSince: { files: 1 } });
    expect(await stateOf(changed)).toEqual({ "linked.yaml": team, "real/a.yaml": team });
  });
});

test("a link of git-annex in place of a manifest is an error, in a folder, a checkout and a commit alike", async () => {
  const root = await folderOf({ "real/a.yaml": team });
  symlinkSync("../.git/annex/objects/aa/bb/SHA256E-s12--0123.yaml/SHA256E-s12--0123.yaml", join(root, "real/b.yaml"));
  symlinkSync("annex/objects/c.yaml", join(root, "c.yaml"));
  const error = ["c.yaml:null:null warning not-a-regular-file", "real/b.yaml:null:null error pointer"];
  const found = async (where: string) => brief((await read(where)).diagnostics).toSorted();
  expect(await found(root)).toEqual(error);
  const commit = await commitAll(root, "Begin");
  expect(await found(root)).toEqual(error);
  const place = {
    root,
    cwd: root,
    ref: commit,
    limits: defaultLimits,
    repository: await findRepository(root, { signal }),
  };
  expect(brief((await readCommitFiles(place, { clock: systemClock, signal })).diagnostics)).toEqual(error);
  const clone = join(await temporaryFolder(), "checkout");
  for (const setting of ["core.symlinks=false", "core.symlinks=true"]) {
    rmSync(clone, { recursive: true, force: true });
    await git(root, "clone", "--quiet", "--config", setting, root, clone);
    expect(await found(clone)).toEqual(error);
  }
  await git(clone, "sparse-checkout", "set", "--no-cone", "real/a.yaml");
  expect(existsSync(join(clone, "real/b.yaml"))).toBe(false);
  expect(await found(clone)).toEqual(error);
});

describe("a submodule", () => {
  test.each(["empty", "absent", "checked out", "without its repository"])(
    "that is %s gets one warning, and is not read",
    async (how) => {
      const module = await folderOf({ "team.yaml": team });
      await commitAll(module, "Begin");
      const root = await folderOf({ "a.yaml": team });
      await git(root, "init", "--quiet");
      await git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", module, "mods/platform.yaml");
      await commitAll(root, "Add a module");
      const folder = join(root, "mods/platform.yaml");
      if (how === "empty") await git(root, "submodule", "--quiet", "deinit", "--force", "--all");
      if (how === "absent") rmSync(folder, { recursive: true });
      if (how === "without its repository") rmSync(join(folder, ".git"));
      const revision = await read(root);
      expect(pathsOf(revision)).toEqual(["a.yaml"]);
      const file = "mods/platform.yaml";
      expect(revision.diagnostics).toMatchObject([{ severity: "warning", file, summary: "a submodule, not read" }]);
      expect(revision.commit).toBe(await git(root, "rev-parse", "HEAD"));
      for (const path of ["mods/platform.yaml", "mods/platform.yaml/deep"]) {
        const named = await read(root, { paths: [path] });
        expect(pathsOf(named)).toEqual([]);
        expect(named.diagnostics).toMatchObject([{ file, summary: "a submodule, not read" }]);
      }
      expect((await read(root, { paths: ["a.yaml"] })).diagnostics).toEqual([]);
    },
  );

  test("that is not tracked, another checkout inside, is not read either", async () => {
    const root = await folderOf({ "a.yaml": team, "inner/b.yaml": team });
    await git(join(root, "inner"), "init", "--quiet");
    await git(root, "init", "--quiet");
    await git(root, "add", "a.yaml");
    await git(root, "commit", "--quiet", "--message", "Begin");
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["a.yaml"]);
    expect(revision.diagnostics).toMatchObject([{ file: "inner", summary: "a submodule, not read" }]);
    expect(pathsOf(await read(join(root, "inner")))).toEqual(["b.yaml"]);
  });
});
