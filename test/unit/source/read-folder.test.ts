import { execFileSync } from "node:child_process";
import { chmodSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { HoldfastError } from "../../../src/core/errors.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readFolder } from "../../../src/source/read-folder.ts";
import { readRegularFile } from "../../../src/source/read-regular-file.ts";
import { needsPermissions } from "../../support/as-root.ts";
import { commitAll, git } from "../../support/git.ts";
import { processorMs } from "../../support/processor-time.ts";
import { brief, folderOf, pathsOf, read, sizesOf, textsOf, write } from "./source.ts";

describe("a folder", () => {
  test("is read as its YAML and JSON files, in path order", async () => {
    const root = await folderOf({
      "b.yaml": "b",
      "a/z.yml": "z",
      "a/y.json": "{}",
      "a/x.txt": "x",
      "A.YAML": "A",
      README: "",
    });
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["A.YAML", "a/y.json", "a/z.yml", "b.yaml"]);
    expect(await textsOf(revision.files)).toEqual(["A", "{}", "z", "b"]);
    expect(revision.commit).toBeNull();
  });

  test("passes over dot-folders, node_modules, the state folder and the project's own files", async () => {
    const root = await folderOf({
      "a.yaml": "",
      ".github/workflows/b.yaml": "",
      "x/node_modules/c.json": "",
      "state/d.yaml": "",
      "holdfast.yaml": "",
      ".holdfast-cache.json": "",
      "e/holdfast.yml": "",
      ".dotfile.yaml": "",
    });
    expect(pathsOf(await read(root, { ignore: ["state"] }))).toEqual([".dotfile.yaml", "a.yaml"]);
    expect(pathsOf(await read(root, { ignore: [join(root, "state")] }))).toEqual([".dotfile.yaml", "a.yaml"]);
  });

  test("passes over what .gitignore and .holdfastignore say, nested ones and exceptions too, without git", async () => {
    const root = await folderOf({
      ".gitignore": "build/\n*.tmp.yaml\n# comment\n",
      ".holdfastignore": "charts/**\n",
      "a.yaml": "",
      "b.tmp.yaml": "",
      "build/c.yaml": "",
      "charts/d.yaml": "",
      "x/.gitignore": "!b.tmp.yaml\n/only.yaml\n",
      "x/b.tmp.yaml": "",
      "x/only.yaml": "",
      "x/y/only.yaml": "",
      "Build/upper.yaml": "",
    });
    expect(pathsOf(await read(root))).toEqual(["Build/upper.yaml", "a.yaml", "x/b.tmp.yaml", "x/y/only.yaml"]);
  });

  test("applies the ignore files above it in its checkout, unless it is itself ignored", async () => {
    const root = await folderOf({
      ".gitignore": "*.local.yaml\nout/\n",
      "teams/a.yaml": "",
      "teams/b.local.yaml": "",
      "out/c.yaml": "",
      ".git/info/exclude": "teams/private.yaml\n",
      "teams/private.yaml": "",
    });
    expect(pathsOf(await read(join(root, "teams")))).toEqual(["a.yaml"]);
    expect(pathsOf(await read(join(root, "out")))).toEqual(["c.yaml"]);
    expect(pathsOf(await read(root))).toEqual(["teams/a.yaml"]);
  });

  test("is not slowed down by a hostile ignore pattern", async () => {
    const root = await folderOf({
      ".gitignore": `${"*a".repeat(100)}b\n${"**/".repeat(50)}x\n`,
      [`${"a".repeat(200)}.yaml`]: "",
    });
    const started = processorMs();
    expect(pathsOf(await read(root))).toHaveLength(1);
    expect(processorMs() - started).toBeLessThan(2000);
  });

  test("is narrowed by paths, which may be files, and may not lead out of it", async () => {
    const root = await folderOf({ "a/x.yaml": "", "a/b/y.yaml": "", "c/z.yaml": "", ".gitignore": "a/\n" });
    expect(pathsOf(await read(root, { paths: ["a/b", "c/z.yaml", "c/z.yaml"] }))).toEqual(["a/b/y.yaml", "c/z.yaml"]);
    await expect(read(root, { paths: ["../elsewhere"] })).rejects.toThrow(HoldfastError);
    await expect(read(root, { paths: ["/etc"] })).rejects.toThrow("leads out of the source");
    await expect(read(root, { paths: ["nowhere"] })).rejects.toThrow("does not exist");
  });

  test("S4: symbolic links are never followed, a warning each", async () => {
    const root = await folderOf({ "a.yaml": "a", "real/b.yaml": "b" });
    symlinkSync("/etc/passwd", join(root, "evil.yaml"));
    symlinkSync("real", join(root, "linked.yaml"));
    symlinkSync("..", join(root, "loop"));
    symlinkSync("nowhere", join(root, "dangling.json"));
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["a.yaml", "real/b.yaml"]);
    expect(brief(revision.diagnostics).toSorted()).toEqual([
      "dangling.json:null:null warning not-a-regular-file",
      "evil.yaml:null:null warning not-a-regular-file",
      "linked.yaml:null:null warning not-a-regular-file",
      "loop:null:null warning not-a-regular-file",
    ]);
    symlinkSync("/etc", join(root, "etc"));
    const through = await read(root, { paths: ["etc/hosts"] });
    expect(pathsOf(through)).toEqual([]);
  });

  test("S4: a link to a folder is skipped with a warning, unless an ignore file names it", async () => {
    const root = await folderOf({ "real/a.yaml": "a", "b.txt": "b", ".gitignore": "hidden/\n" });
    for (const name of ["linked", "hidden", "node_modules"]) symlinkSync("real", join(root, name));
    symlinkSync("b.txt", join(root, "note.txt"));
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["real/a.yaml"]);
    expect(revision.diagnostics).toMatchObject([{ file: "linked", summary: "a symbolic link to a folder, skipped" }]);
  });

  test("FIFOs are not opened, and a folder called x.yaml is a folder", async () => {
    const root = await folderOf({ "x.yaml/a.yaml": "a" });
    execFileSync("mkfifo", [join(root, "pipe.yaml")]);
    const revision = await read(root);
    expect(pathsOf(revision)).toEqual(["x.yaml/a.yaml"]);
    expect(brief(revision.diagnostics)).toEqual(["pipe.yaml:null:null warning not-a-regular-file"]);
  });

  test("a file that was replaced by something else since it was listed is not opened", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    symlinkSync("a.yaml", join(root, "link.yaml"));
    execFileSync("mkfifo", [join(root, "pipe.yaml")]);
    expect(readRegularFile(join(root, "link.yaml"), 10).is).toBe("not-a-file");
    expect(readRegularFile(join(root, "pipe.yaml"), 10).is).toBe("not-a-file");
    expect(readRegularFile(root, 10).is).toBe("not-a-file");
    expect(readRegularFile(join(root, "gone.yaml"), 10).is).toBe("gone");
  });

  test("what may not be read is an error, not an absence", async (context) => {
    needsPermissions(context);
    const root = await folderOf({ "a.yaml": "a", "shut/b.yaml": "b" });
    chmodSync(join(root, "a.yaml"), 0);
    chmodSync(join(root, "shut"), 0);
    const { diagnostics } = await read(root);
    chmodSync(join(root, "shut"), 0o700);
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
      "error unreadable",
      "error unreadable",
    ]);
  });

  test("B20: only the beginning of a file beyond the limit is read, and all files together have a limit", async () => {
    const root = await folderOf({ "big.yaml": "x".repeat(50_001), "fine.yaml": "x".repeat(50_000) });
    const { files } = await read(root, { limits: { fileBytes: 50_000 } });
    expect(await sizesOf(files)).toEqual([
      [50_001, 16_384],
      [50_000, 50_000],
    ]);
    await expect(read(root, { limits: { totalBytes: 60_000 } })).rejects.toThrow("MiB together");
  });

  test("B20: folders have a depth limit", async () => {
    const root = await folderOf({ [`${"d/".repeat(5)}a.yaml`]: "", [`${"e/".repeat(6)}b.yaml`]: "" });
    const revision = await read(root, { limits: { folderDepth: 5 } });
    expect(pathsOf(revision)).toEqual(["d/d/d/d/d/a.yaml"]);
    expect(brief(revision.diagnostics)).toEqual(["e/e/e/e/e/e:null:null error too-deep"]);
  });

  test("F57: names that differ only in case or composition are all read", async () => {
    const root = await folderOf({ "A.yaml": "1", "a.yaml": "2", "é.yaml": "3", "e\u0301.yaml": "4", "b .yaml": "5" });
    expect((await read(root)).files).toHaveLength(5);
  });

  test("that does not exist is refused", async () => {
    await expect(read("/nonexistent/folder")).rejects.toThrow(HoldfastError);
  });

  test("is not read once stopped", async () => {
    const root = await folderOf({ "a.yaml": "" });
    const options = { root, cwd: root, repository: null, limits: defaultLimits };
    await expect(readFolder(options, { clock: systemClock, signal: AbortSignal.abort() })).rejects.toThrow("aborted");
  });
});

describe("a checkout", () => {
  test("is its commit while every manifest file is the commit's", async () => {
    const root = await folderOf({ "a.yaml": "a", "sub/b.yaml": "b", "notes.txt": "n", ".gitignore": "out/\n" });
    const commit = await commitAll(root, "Begin");
    const revision = await read(root);
    expect(revision.commit).toBe(commit);
    expect(revision.files.map(({ blob }) => blob)).toEqual([
      await git(root, "rev-parse", "HEAD:a.yaml"),
      await git(root, "rev-parse", "HEAD:sub/b.yaml"),
    ]);
    expect((await read(join(root, "sub"))).commit).toBe(commit);
    write(root, { "notes.txt": "changed", "out/c.yaml": "ignored" });
    expect((await read(root)).commit).toBe(commit);
  });

  test.each([
    ["changed", { "a.yaml": "A" }, []],
    ["added", { "c.yaml": "c" }, []],
    ["removed", {}, ["a.yaml"]],
  ])(
    "has no commit once a manifest file is %s, except where that lies outside of its paths",
    async (_, files, gone) => {
      const root = await folderOf({ "a.yaml": "a", "sub/b.yaml": "b" });
      const commit = await commitAll(root, "Begin");
      write(root, files);
      for (const path of gone) rmSync(join(root, path));
      expect((await read(root)).commit).toBeNull();
      expect((await read(root, { paths: ["sub"] })).commit).toBe(commit);
    },
  );

  test("keeps its commit beside a file too large to be read", async () => {
    const root = await folderOf({ "a.yaml": "a", "big.json": "x".repeat(2000) });
    const commit = await commitAll(root, "Begin");
    expect((await read(root, { limits: { fileBytes: 1000 } })).commit).toBe(commit);
  });

  test("without a commit yet is a folder", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await git(root, "init", "-q");
    expect(await read(root)).toMatchObject({ commit: null, files: [{ path: "a.yaml" }] });
  });

  test("with hooks and a file-system monitor runs neither", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "Begin");
    const marker = join(root, "ran");
    write(root, { "monitor.sh": `#!/bin/sh\ntouch ${marker}\n` });
    chmodSync(join(root, "monitor.sh"), 0o755);
    await git(root, "config", "core.fsmonitor", join(root, "monitor.sh"));
    await git(root, "config", "core.hooksPath", root);
    await read(root);
    expect(readRegularFile(marker, 1).is).toBe("gone");
  });
});
