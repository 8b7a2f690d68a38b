import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { sortDiagnostics } from "../../../../src/core/diagnostic.ts";
import { HoldfastError } from "../../../../src/core/errors.ts";
import { findBase } from "../../../../src/source/git/base-commit.ts";
import { findRepository } from "../../../../src/source/git/find-repository.ts";
import { headCommit, resolveCommit } from "../../../../src/source/git/git.ts";
import { type CommitOptions, readCommitFiles, readFileAt } from "../../../../src/source/git/read-commit.ts";
import type { Repository } from "../../../../src/source/git/repository-paths.ts";
import { temporaryRepository } from "../../../../src/source/git/temporary-repository.ts";
import { diffTrees } from "../../../../src/source/git/tree.ts";
import { defaultLimits } from "../../../../src/source/limits.ts";
import type { RevisionFiles } from "../../../../src/source/revision.ts";
import { commitAll, git } from "../../../support/git.ts";
import { brief, folderOf, pathsOf, read, signal, sizesOf, textsOf, write } from "../source.ts";

async function at(root: string, ref: string, options: Partial<CommitOptions> = {}) {
  const repository = await findRepository(root, { signal });
  return readCommitFiles(
    { root, repository, ref, cwd: root, limits: defaultLimits, ...options },
    { clock: systemClock, signal },
  );
}

async function repositoryOf(root: string): Promise<Repository> {
  const found = await findRepository(root, { signal });
  if (found === null) throw new TypeError(`${root} is in no repository`);
  return found;
}

const files = {
  "a.yaml": "a: é\n",
  "sub/b.yml": "b",
  "sub/deep/c.json": "{}",
  "notes.txt": "n",
  ".github/d.yaml": "",
  "node_modules/e.json": "",
  ".holdfastignore": "skipped/\n",
  "skipped/f.yaml": "",
  "holdfast.yaml": "paths: []",
};

describe("a commit", () => {
  test("is read as the folder would be, whatever the folder holds by now", async () => {
    const root = await folderOf(files);
    const commit = await commitAll(root, "Begin");
    const folder = await read(root);
    write(root, { "a.yaml": "changed", "new.yaml": "new", ".holdfastignore": "" });
    const revision = await at(root, "main");
    const known = ({ filesByPath: _, files: all, diagnostics, leftOut }: RevisionFiles) => ({
      diagnostics,
      leftOut,
      files: all.map(({ path, display, size, digest, blob }) => ({ path, display, size, digest, blob })),
    });
    expect(revision).toMatchObject({ commit, root, at: 0 });
    expect(folder.commit).toBe(commit);
    expect(known(revision)).toEqual(known(folder));
    expect(pathsOf(revision)).toEqual(["a.yaml", "sub/b.yml", "sub/deep/c.json"]);
    expect((await textsOf(revision.files))[0]).toBe("a: é\n");
  });

  test("is read below the source's root alone, and within its paths", async () => {
    const root = await folderOf({ ...files, ".gitignore": "*.yml\n", ".holdfastignore": "skipped/\n*.local.yaml\n" });
    await git(root, "init", "-q", "--initial-branch", "main");
    await git(root, "add", "-f", "sub/b.yml");
    write(root, { "sub/x.local.yaml": "x" });
    await commitAll(root, "Begin");
    const sub = join(root, "sub");
    expect(pathsOf(await at(sub, "HEAD"))).toEqual(["b.yml", "deep/c.json"]);
    expect(pathsOf(await at(sub, "HEAD", { paths: ["deep"] }))).toEqual(["deep/c.json"]);
    expect(pathsOf(await at(root, "HEAD", { paths: ["sub/b.yml", "skipped"] }))).toEqual([
      "skipped/f.yaml",
      "sub/b.yml",
    ]);
    expect((await at(sub, "HEAD", { cwd: root })).files[0]?.display).toBe("sub/b.yml");
    await expect(at(root, "HEAD", { paths: ["nowhere"] })).rejects.toThrow("does not exist at");
  });

  test("is found by its id, short or long, by branch, tag and ancestry", async () => {
    const root = await folderOf({ "a.yaml": "1" });
    const first = await commitAll(root, "First");
    await git(root, "tag", "-a", "v1", "-m", "One");
    await git(root, "branch", "feature/x");
    write(root, { "a.yaml": "2" });
    const second = await commitAll(root, "Second");
    for (const ref of [first, first.slice(0, 10), "v1", "HEAD~1", "main^", "feature/x", "refs/heads/feature/x"]) {
      expect((await at(root, ref)).commit).toBe(first);
    }
    expect(await headCommit(await repositoryOf(root), { signal })).toBe(second);
    using repository = temporaryRepository(await repositoryOf(root));
    expect(await findBase(repository, "feature/x", { signal })).toMatchObject({ mergeBase: first, behind: 0 });
  });

  test("is read from a bare repository", async () => {
    const root = await folderOf(files);
    const commit = await commitAll(root, "Begin");
    const bare = join(root, "..", `${root.split("/").at(-1)}-bare.git`);
    await git(root, "clone", "-q", "--bare", root, bare);
    expect(pathsOf(await at(bare, "main"))).toHaveLength(3);
    expect((await at(bare, commit)).commit).toBe(commit);
    execFileSync("rm", ["-rf", bare]);
  });

  test("S4: symbolic links and submodules are recognised by their mode, with a warning each", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    symlinkSync("/etc/passwd", join(root, "evil.yaml"));
    await commitAll(root, "Begin");
    const head = await git(root, "rev-parse", "HEAD");
    await git(root, "update-index", "--add", "--cacheinfo", `160000,${head},module.yaml`);
    await git(root, "update-index", "--add", "--cacheinfo", `160000,${head},vendor/platform`);
    await git(root, "commit", "-qm", "Module");
    const revision = await at(root, "HEAD");
    expect(pathsOf(revision)).toEqual(["a.yaml"]);
    expect(brief(revision.diagnostics)).toEqual([
      "evil.yaml:null:null warning not-a-regular-file",
      "module.yaml:null:null warning not-a-regular-file",
      "vendor/platform:null:null warning not-a-regular-file",
    ]);
    expect(revision.diagnostics.map(({ summary }) => summary)).toEqual([
      "a symbolic link, skipped",
      "a submodule, not read",
      "a submodule, not read",
    ]);
    for (const path of ["vendor/platform", "vendor/platform/manifests"]) {
      const named = await at(root, "HEAD", { paths: [path] });
      expect(named.diagnostics).toMatchObject([{ file: "vendor/platform", summary: "a submodule, not read" }]);
    }
    expect((await at(root, "HEAD", { paths: ["a.yaml"] })).diagnostics).toEqual([]);
  });

  test("S4: a link to a folder is skipped with a warning, unless an ignore file names it", async () => {
    const root = await folderOf({ "real/a.yaml": "a", "b.txt": "b", "c/d.yaml": "d", ".holdfastignore": "/hidden/\n" });
    for (const name of ["linked", "hidden", "node_modules"]) symlinkSync("real/", join(root, name));
    symlinkSync("../real", join(root, "c/up"));
    symlinkSync("..", join(root, "c/loop"));
    symlinkSync("b.txt", join(root, "note.txt"));
    await commitAll(root, "Begin");
    const revision = await at(root, "HEAD");
    expect(pathsOf(revision)).toEqual(["c/d.yaml", "real/a.yaml"]);
    const summary = "a symbolic link to a folder, skipped";
    const folders = ["c/loop", "c/up", "linked"].map((file) => ({ file, summary }));
    expect(revision.diagnostics).toMatchObject(folders);
    const narrowed = await at(root, "HEAD", { paths: ["linked"] });
    expect(narrowed.diagnostics).toMatchObject([{ file: "linked", summary }]);
  });

  test("S6, F57: odd names are only names", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "Begin");
    const blob = await git(root, "rev-parse", "HEAD:a.yaml");
    const names = ["A.yaml", "a b\r.yaml", "x\\y.yaml", "é.yaml", "e\u0301.yaml", "-rf.yaml", "new\nline.yaml"];
    const listing = names.map((name) => `100644 blob ${blob}\t${name}\0`).join("");
    const tree = execFileSync("git", ["mktree", "-z"], { cwd: root, input: listing, encoding: "utf8" }).trim();
    const commit = await git(root, "commit-tree", tree, "-m", "Odd");
    expect(pathsOf(await at(root, commit)).toSorted()).toEqual(names.toSorted());
  });

  test("S6: tree entries that would lead out of a folder are not looked into", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "Begin");
    const inner = await git(root, "rev-parse", "HEAD^{tree}");
    const raw = (name: string) => Buffer.concat([Buffer.from(`40000 ${name}\0`), Buffer.from(inner, "hex")]);
    const body = Buffer.concat([raw(".."), raw(".git")]);
    const tree = execFileSync("git", ["hash-object", "-t", "tree", "-w", "--stdin", "--literally"], {
      cwd: root,
      input: body,
      encoding: "utf8",
    }).trim();
    const commit = await git(root, "commit-tree", tree, "-m", "Hostile");
    expect(pathsOf(await at(root, commit))).toEqual([]);
  });

  test("B20: blobs beyond the limit are read no further than their beginning", async () => {
    const root = await folderOf({ "a.yaml": "a", "big.yaml": "type: service\n".repeat(100_000) });
    await commitAll(root, "Begin");
    const { files: found } = await at(root, "HEAD");
    expect(await sizesOf(found)).toEqual([
      [1, 1],
      [1_400_000, 16_384],
    ]);
  });

  test("a large blob that git cannot read is an error, and no empty file", async () => {
    const root = await folderOf({ "a.yaml": "a", "big.yaml": randomBytes(700_000).toString("hex") });
    await commitAll(root, "Begin");
    const id = (await git(root, "rev-parse", "HEAD:big.yaml")).trim();
    const object = join(root, ".git", "objects", id.slice(0, 2), id.slice(2));
    chmodSync(object, 0o600);
    writeFileSync(object, readFileSync(object).subarray(0, 2000));
    await expect(at(root, "HEAD")).rejects.toThrow("git could not read the files of the commit");
  });

  test("gives single files too", async () => {
    const root = await folderOf(files);
    await commitAll(root, "Begin");
    const repository = await repositoryOf(root);
    const options = { root, repository, ref: "HEAD", cwd: root, limits: defaultLimits };
    const file = await readFileAt({ ...options, path: "holdfast.yaml" }, { clock: systemClock, signal });
    expect(file && (await textsOf([file]))[0]).toBe("paths: []");
    expect(await readFileAt({ ...options, path: "missing.yaml" }, { clock: systemClock, signal })).toBeNull();
  });
});

describe("a name of no commit", () => {
  test.each([
    "nowhere",
    "--upload-pack=x",
    "-c",
    "main..main",
    "main:a.yaml",
    "main@{1}",
    "a b",
    "x\ny",
    "",
    "HEAD^{tree}",
    "$(id)",
    "main^2",
  ])("%j is refused", async (ref) => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "Begin");
    await expect(resolveCommit(await repositoryOf(root), ref, { signal })).rejects.toThrow(HoldfastError);
    await expect(resolveCommit(await repositoryOf(root), ref, { signal })).rejects.toMatchObject({ code: "invalid" });
  });

  test("F59: a name that is both a branch and a tag is refused, in full it is taken", async () => {
    const root = await folderOf({ "a.yaml": "1" });
    const first = await commitAll(root, "First");
    await git(root, "tag", "main");
    await expect(resolveCommit(await repositoryOf(root), "main", { signal })).rejects.toThrow(
      /names more than one commit/,
    );
    expect(await resolveCommit(await repositoryOf(root), "refs/heads/main", { signal })).toBe(first);
  });

  test("F59: a tag of something else is no commit", async () => {
    const root = await folderOf({ "a.yaml": "1" });
    await commitAll(root, "First");
    await git(root, "tag", "blob", "HEAD:a.yaml");
    await expect(resolveCommit(await repositoryOf(root), "blob", { signal })).rejects.toMatchObject({
      code: "invalid",
    });
  });

  test("outside of a repository says so", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await expect(at(root, "HEAD")).rejects.toThrow("is in no git repository");
    expect(await findRepository(root, { signal })).toBeNull();
  });

  test("two histories without a common commit have no base", async () => {
    const root = await folderOf({ "a.yaml": "a" });
    await commitAll(root, "One");
    await git(root, "checkout", "-q", "--orphan", "other");
    await git(root, "commit", "-qm", "Two", "--allow-empty");
    using repository = temporaryRepository(await repositoryOf(root));
    await expect(findBase(repository, "main", { signal })).rejects.toThrow("main and this branch share no history");
  });
});

describe("a commit of a repository of ours, read by an earlier one", () => {
  const readAs = async (root: string, before: RevisionFiles | null, paths?: readonly string[]) => {
    const repository = { ...(await repositoryOf(root)), top: null };
    const gitFolder = repository.gitFolder;
    const ref = await git(root, "rev-parse", "HEAD");
    const options = {
      root: gitFolder,
      repository,
      ref: ref.trim(),
      cwd: gitFolder,
      limits: defaultLimits,
      isOurs: true,
    };
    const commits = { before: before?.commit ?? "", commit: ref.trim() };
    const earlier = before && {
      files: before,
      paths,
      changes: await diffTrees(repository, commits, { clock: systemClock, signal }),
    };
    return readCommitFiles(
      { ...options, ...(paths === undefined ? {} : { paths }), before: earlier },
      { clock: systemClock, signal },
    );
  };
  const known = ({ files: all, diagnostics, commit }: RevisionFiles) => ({
    commit,
    diagnostics: sortDiagnostics(diagnostics),
    files: all.map(({ path, display, size, digest, blob }) => ({ path, display, size, digest, blob })),
  });
  const POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";

  test.each([
    ["one file has another content", { "a.yaml": "a: 2\n" }, ["a.yaml"]],
    ["a file that is not read has changed", { "notes.txt": "other" }, []],
    ["a file is new", { "sub/new.yaml": "n: 1\n" }, ["sub/new.yaml"]],
    ["an ignore file has changed", { ".holdfastignore": "sub/\n" }, ["skipped/f.yaml"]],
    ["a file has become a pointer", { "a.yaml": POINTER }, ["a.yaml"]],
    ["a file has become too large", { "a.yaml": `a: ${"x".repeat(defaultLimits.fileBytes)}` }, ["a.yaml"]],
    ["a pointer stays where another file changes", { "sub/b.yml": "b: 2\n" }, ["sub/b.yml"]],
  ] as const)("is the same as read whole: %s", async (_, changes, changed) => {
    const root = await folderOf({ ...files, "pointer.yaml": POINTER });
    await commitAll(root, "Begin");
    const before = await readAs(root, null);
    write(root, changes);
    await commitAll(root, "Change");
    const again = await readAs(root, before);
    expect(known(again)).toEqual(known(await readAs(root, null)));
    expect([...(again.since?.changed ?? [])]).toEqual(changed);
    // Of a larger file only the beginning is read.
    for (const file of again.files.filter(({ digest }) => digest !== null)) {
      const text = (await git(root, "cat-file", "blob", file.blob ?? "")).trim();
      // Once what was read, and then from the repository again.
      expect((await textsOf([file, file])).map((read) => read.trim())).toEqual([text, text]);
    }
  });

  test("reads the files of our own repository again by git, and stops with the command", async () => {
    const root = await folderOf({ "a.yaml": "a: 1\n", "b.yaml": "b: 2\n", "c.yaml": "c: 3\n" });
    await commitAll(root, "Begin");
    const { files: found } = await readAs(root, null);
    expect(await textsOf([...found, ...found.toReversed()])).toEqual([
      "a: 1\n",
      "b: 2\n",
      "c: 3\n",
      "c: 3\n",
      "b: 2\n",
      "a: 1\n",
    ]);
    const [file] = found;
    await expect(file?.bytes({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    expect(file && (await textsOf([file]))[0]).toBe("a: 1\n");
  });

  test("says whether it comes directly after the earlier one", async () => {
    const root = await folderOf({ "a.yaml": "a: 1\n" });
    await commitAll(root, "Begin");
    const first = await readAs(root, null);
    const next = async (text: string, before: RevisionFiles) => {
      write(root, { "a.yaml": text });
      // A message is no header.
      await commitAll(root, `Change\n\nparent ${before.commit}`);
      return readAs(root, before);
    };
    const second = await next("a: 2\n", first);
    expect([second.since?.isNext, (await next("a: 3\n", first)).since?.isNext]).toEqual([true, false]);
  });
});
