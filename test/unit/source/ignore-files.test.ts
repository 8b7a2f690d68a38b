import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { findRepository } from "../../../src/source/git/find-repository.ts";
import { readCommitFiles } from "../../../src/source/git/read-commit.ts";
import type { Repository } from "../../../src/source/git/repository-paths.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readFolder } from "../../../src/source/read-folder.ts";
import type { RevisionFiles } from "../../../src/source/revision.ts";
import { longestEventLoopDelay } from "../../support/event-loop-delay.ts";
import { commitAll, git } from "../../support/git.ts";
import { processorMs } from "../../support/processor-time.ts";
import { type Files, folderOf, pathsOf, read, signal, write } from "./source.ts";

const names = ["a", "b", "ab", "a.b", "aa", "[a]", "b c", "*a", "A"];
const tree: Files = Object.fromEntries(
  ["", "a/", "b/", "a/b/", "a/a/", "b/a/c/"].flatMap((folder) => names.map((name) => [`${folder}${name}.yaml`, ""])),
);

const piece = fc.constantFrom(
  ...["a", "b", "*", "**", "/", "?", ".yaml", "*.yaml", "a/", "/b", "**/", "/**", "!", "#", " ", "\\", "\\*", "\\ "],
  ...[
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[c-a]",
    "[]a]",
    "[a",
    "]",
    "[[:alpha:]]",
    "[[:upper:]*]",
    "[\\]]",
    "[-a]",
    "[a-]",
  ],
  ...["[[:nope:]]", "\t", "***", "***/", "c"],
);
// Of two stars that are no segment of their own git 2.39 makes what lies in its memory.
const line = fc
  .array(piece, { maxLength: 6 })
  .map((pieces) => pieces.join(""))
  .filter((text) => !/[^/]\*\*/.test(text.replace(/^!/, "")));
const ignoreFile = fc.array(line, { maxLength: 4 }).map((lines) => lines.join("\n"));

const faultsIn = ({ diagnostics }: RevisionFiles) =>
  diagnostics.map(({ file, line, severity, code, summary }) => `${file}:${line} ${severity} ${code} ${summary}`);

async function readCommit(root: string): Promise<RevisionFiles> {
  await commitAll(root, "Begin");
  const repository = await findRepository(root, { signal });
  return readCommitFiles(
    { root, repository, ref: "HEAD", cwd: root, limits: defaultLimits },
    { clock: systemClock, signal },
  );
}

describe("ignore files", () => {
  test("match the same paths as in git", async () => {
    const root = await folderOf(tree);
    await git(root, "init", "--quiet");
    await fc.assert(
      fc.asyncProperty(ignoreFile, ignoreFile, fc.constantFrom("\n", "\r\n"), async (outer, inner, end) => {
        write(root, { ".gitignore": outer.replaceAll("\n", end), "a/.gitignore": `${inner}${end}` });
        const listed = await git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", "*.yaml");
        expect(pathsOf(await read(root)).toSorted()).toEqual(listed.split("\0").filter(Boolean).toSorted());
      }),
      { numRuns: 8 },
    );
  });
});

describe("starting points", () => {
  const start = fc.constantFrom(".", "a", "a/b", "a/a", "b", "b/a", "b/a/c", "a.yaml", "a/b/a.yaml", "b/a/c/ab.yaml");
  const hidden = fc.array(fc.constantFrom("a/", "b", "c", "!a/b", "ab.yaml", "!ab.yaml", "/a/a", "*.yaml", "!c/"), {
    maxLength: 4,
  });

  test("S43 that lie inside each other take together what each takes alone, in a folder and in a commit", async () => {
    const root = await folderOf(tree);
    await commitAll(root, "Begin");
    const read = async (paths: readonly string[], repository: Repository | null) => {
      const options = { root, cwd: root, limits: defaultLimits, paths, repository };
      const folder = pathsOf(await readFolder(options, { clock: systemClock, signal }));
      if (repository !== null)
        expect(pathsOf(await readCommitFiles({ ...options, ref: "HEAD" }, { clock: systemClock, signal }))).toEqual(
          folder,
        );
      return folder;
    };
    await fc.assert(
      fc.asyncProperty(
        hidden,
        hidden,
        fc.array(start, { minLength: 1, maxLength: 5 }),
        async (outer, inner, starts) => {
          write(root, { ".holdfastignore": outer.join("\n"), "a/.holdfastignore": inner.join("\n") });
          await git(root, "add", "--all");
          await git(root, "commit", "--quiet", "--allow-empty", "--message", "Change");
          const repository = await findRepository(root, { signal });
          const alone = await Promise.all(starts.map((each) => read([each], null)));
          expect(await read(starts, repository)).toEqual([...new Set(alone.flat())].toSorted());
        },
      ),
      { numRuns: 4 },
    );
  });

  test("S43 are read once, however often and however deep they name the same folder", async () => {
    const names = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${"a/".repeat(60)}${n}.yaml`, ""]));
    const root = await folderOf({ ...names, ".holdfastignore": "**/a*b*c*\n".repeat(250) });
    const paths = Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? "." : "a/".repeat(1 + (n % 60)).slice(0, -1)));
    await commitAll(root, "Begin");
    const options = {
      root,
      cwd: root,
      limits: defaultLimits,
      paths,
      repository: await findRepository(root, { signal }),
    };
    const begun = processorMs();
    expect(pathsOf(await readFolder(options, { clock: systemClock, signal }))).toHaveLength(300);
    expect(pathsOf(await readCommitFiles({ ...options, ref: "HEAD" }, { clock: systemClock, signal }))).toHaveLength(
      300,
    );
    expect(processorMs() - begun).toBeLessThan(5000);
  });
});

describe("an ignore file beyond the limits", () => {
  const wild = "*a".repeat(33);

  test("S43 is told with its file and line, in a folder and in a commit, and the rest of it holds", async () => {
    const root = await folderOf({
      ".gitignore": `# ${"*".repeat(600)}\nout/\n${wild}\n`,
      ".holdfastignore": `${"a".repeat(513)}\nskipped.yaml\n`,
      "a.yaml": "",
      "out/b.yaml": "",
      "skipped.yaml": "",
      "sub/.gitignore": `\n${wild}\n`,
      "sub/c.yaml": "",
    });
    const told = [
      ".gitignore:3 error ignore-file a pattern with more than 32 wildcards",
      ".holdfastignore:1 error ignore-file a pattern of more than 512 characters",
      "sub/.gitignore:2 error ignore-file a pattern with more than 32 wildcards",
    ];
    const folder = await read(root);
    expect(faultsIn(folder)).toEqual(told);
    expect(pathsOf(folder)).toEqual(["a.yaml", "sub/c.yaml"]);
    // All files of a commit are tracked, and git leaves out untracked files only.
    const commit = await readCommit(root);
    expect(faultsIn(commit)).toEqual(told.slice(1, 2));
    expect(pathsOf(commit)).toEqual(["a.yaml", "sub/c.yaml"]);
    expect(faultsIn(await read(root, { paths: [".", "sub", "out"] })).toSorted()).toEqual(told);
    expect(faultsIn(await read(join(root, "sub")))).toEqual([
      "../.gitignore:3 error ignore-file a pattern with more than 32 wildcards",
      "../.holdfastignore:1 error ignore-file a pattern of more than 512 characters",
      ".gitignore:2 error ignore-file a pattern with more than 32 wildcards",
    ]);
  });

  test("S43 is not applied at all when it is too large", async () => {
    const root = await folderOf({ "a.yaml": "", ".holdfastignore": "*\n".repeat(40_000) });
    for (const revision of [await read(root), await readCommit(root)]) {
      expect(faultsIn(revision)).toEqual([".holdfastignore:1 error ignore-file more than 64 KiB"]);
      expect(pathsOf(revision)).toEqual(["a.yaml"]);
    }
  });

  test("S43 holds as far as it goes with those of the folders above it", async () => {
    const lines = (count: number, line: string) => `${line}\n`.repeat(count);
    const root = await folderOf({
      ".holdfastignore": lines(1500, "x"),
      "a/.holdfastignore": `b.yaml\n${lines(499, "x")}c.yaml\n`,
      "a/b.yaml": "",
      "a/c.yaml": "",
      "d/.holdfastignore": `${lines(999, "?")}*\n[e].yaml\n`,
      "d/e.yaml": "",
    });
    const told = ["a/.holdfastignore:501", "d/.holdfastignore:501"].map(
      (place) => `${place} error ignore-file more than 2000 patterns, or 1000 wildcards, apply in this folder`,
    );
    for (const revision of [await read(root), await readCommit(root)]) {
      expect(faultsIn(revision).toSorted()).toEqual(told);
      expect(pathsOf(revision)).toEqual(["a/c.yaml", "d/e.yaml"]);
    }
  });
});

describe("ignore files as large as they may be", () => {
  const hostile = async () => {
    const name = (n: number) => `${"a".repeat(180)}${n}.yaml`;
    const files = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`m/${name(n)}`, ""]));
    const pattern = `*${"a*".repeat(7)}?b*\n`;
    return folderOf({ ...files, ".holdfastignore": pattern.repeat(110), "m/.holdfastignore": "**/x\n".repeat(60) });
  };

  test("S43 never keep the event loop, or the reading itself, for long", async () => {
    const root = await hostile();
    const begun = processorMs();
    const hold = await longestEventLoopDelay(async () => {
      expect(pathsOf(await read(root))).toHaveLength(1500);
      expect(pathsOf(await readCommit(root))).toHaveLength(1500);
    });
    expect(hold).toBeLessThan(1000);
    expect(processorMs() - begun).toBeLessThan(10_000);
  });

  test("S43 stop being asked when the command is to end", async () => {
    const root = await hostile();
    const stopping = new AbortController();
    // A timer might come only after the last time that the reading yields.
    const turn = async () => stopping.abort(new Error("the end"));
    const options = { root, cwd: root, repository: null, limits: defaultLimits };
    const pace = { clock: { ...systemClock, turn }, signal: stopping.signal };
    await expect(readFolder(options, pace)).rejects.toThrow("the end");
  });
});
