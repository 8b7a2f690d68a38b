import { existsSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Plan } from "../../src/core/plan/plan.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf } from "../support/json-output.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { needsMounts, readOnly } from "../support/namespace-commands.ts";
import type { Ended } from "../support/process.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const committed = { ...everyKind, ".gitignore": ".holdfast/\n", "other.yaml": service("other", "replicas: 1\n") };
const plan = ["plan", "-o", "json", "--base"];

/** Steps in short: what is done to whom, and who caused it. */
function brief({ steps }: Plan): readonly string[] {
  return steps.map(({ action, identity, causedBy }) => `${action} ${identity} ${causedBy}`);
}

function stepsOf(ended: Ended): readonly string[] {
  expect(ended).toMatchObject({ code: 0 });
  return brief(planOf(ended));
}

/** A checkout on a branch `change` of a `main`; nothing is recorded in it. */
async function branch(server?: Server): Promise<Source> {
  const source = await sourceOf(committed, server);
  await commitAll(source.folder, "Declare a platform");
  await git(source.folder, "checkout", "-q", "-b", "change");
  return source;
}

async function commit(source: Source, files: { readonly [file: string]: string }, message = "Change"): Promise<string> {
  for (const [file, text] of Object.entries(files)) await source.write(file, text);
  return commitAll(source.folder, message);
}

/** Commits on main, and returns to the branch. */
async function commitOnMain(source: Source, files: { readonly [file: string]: string }): Promise<void> {
  await git(source.folder, "checkout", "-q", "main");
  await commit(source, files, "Change main");
  await git(source.folder, "checkout", "-q", "change");
}

const scaled = (replicas: number) => service("api", `replicas: ${replicas}\n`);
const others = (replicas: number) => service("other", `replicas: ${replicas}\n`);
const ours = "update service/dev:web/api change";

/** The same, where main is live. */
async function appliedBranch(): Promise<Source> {
  return branch(await serve(["--seed", (await sourceOf(committed)).folder]));
}

describe("plan --base", () => {
  test("shows the change of a branch that is ahead, committed or not, and leaves no folder behind", async () => {
    const source = await appliedBranch();
    await commit(source, { "services/api.yaml": scaled(3) });
    await git(source.folder, "tag", "-a", "v1", "-m", "One", "main");
    expect(stepsOf(await source.runHere([...plan, "v1"]))).toEqual([ours]);
    const head = await git(source.folder, "rev-parse", "HEAD");
    expect(planOf(await source.runHere([...plan, "main"])).revision).toBe(head);
    await source.write("other.yaml", others(4));
    const temporary = await temporaryFolder();
    const ended = await source.run([...plan, "main"], { TMPDIR: temporary });
    expect(stepsOf(ended)).toEqual([ours, "update service/dev:web/other change"]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("counts no change of main as the branch's: behind, diverged, and with uncommitted changes", async () => {
    const source = await appliedBranch();
    await commitOnMain(source, { "other.yaml": others(5) });
    const behind = await source.runHere(["plan", "--base", "main", "--gate", "change"]);
    expect(behind).toMatchObject({ code: 0 });
    expect(behind.stderr).toContain("1 commit behind main: this is the plan for the result of merging it");
    expect(behind.stdout).toContain("pending    replicas  1 → 5");

    await source.write("services/api.yaml", scaled(3));
    const dirty = planOf(await source.runHere([...plan, "main"]));
    expect(dirty.revision).toBeNull();
    const both = [ours, "update service/dev:web/other pending"];
    expect(brief(dirty)).toEqual(both);
    await commit(source, {});
    const diverged = await source.runHere([...plan, "main", "--strict"]);
    expect(stepsOf(diverged)).toEqual(both);
    expect(planOf(diverged).diagnostics).toMatchObject([{ severity: "warning", code: "behind-base" }]);
  });

  test("shows nothing of a branch that main has taken as one commit, or that was rebased", async () => {
    const source = await appliedBranch();
    await commit(source, { "services/api.yaml": scaled(3) }, "One");
    await commit(source, { "services/api.yaml": scaled(2) }, "Two");
    await commit(source, { "new-team.yaml": team("squashed", "ada@example.com") }, "Three");
    await git(source.folder, "checkout", "-q", "main");
    await git(source.folder, "merge", "-q", "--squash", "change");
    await git(source.folder, "commit", "-qm", "Squash");
    await git(source.folder, "checkout", "-q", "change");
    expect(stepsOf(await source.runHere([...plan, "main"]))).toEqual(["create team/squashed unrecorded"]);
    await git(source.folder, "rebase", "-q", "main");
    expect(stepsOf(await source.runHere([...plan, "main"]))).toEqual(["create team/squashed unrecorded"]);
  });

  test("shows no change in a file that was moved or renamed, on either side", async () => {
    const source = await appliedBranch();
    await mkdir(join(source.folder, "moved"));
    await git(source.folder, "mv", "services/api.yaml", "moved/api.yaml");
    await commitAll(source.folder, "Move");
    expect(stepsOf(await source.runHere([...plan, "main"]))).toEqual([]);
    await commitOnMain(source, { "services/api.yaml": scaled(3) });
    const followed = await source.runHere([...plan, "main"]);
    expect(planOf(followed).steps).toMatchObject([
      { identity: "service/dev:web/api", file: "moved/api.yaml", causedBy: "pending" },
    ]);
    await git(source.folder, "mv", "other.yaml", "Other.yaml");
    await commitAll(source.folder, "Rename by case alone");
    await commitOnMain(source, { "other.yaml": others(4) });
    expect(stepsOf(await source.runHere([...plan, "main"]))).toEqual([
      "update service/dev:web/api pending",
      "update service/dev:web/other pending",
    ]);
  });

  test("shows what the branch removes as its own, and what main removed as an orphan", async () => {
    const source = await appliedBranch();
    await git(source.folder, "rm", "-q", "services/api.yaml");
    await commitAll(source.folder, "Remove");
    await git(source.folder, "checkout", "-q", "main");
    await git(source.folder, "rm", "-q", "other.yaml");
    await commitAll(source.folder, "Remove another");
    await git(source.folder, "checkout", "-q", "change");
    const ended = await source.runHere(["plan", "--base", "main", "-o", "json", "--gate", "all"]);
    expect(stepsOf(ended)).toEqual(["orphan service/dev:web/api change", "orphan service/dev:web/other null"]);
  });

  test("names both sides of a conflict in a manifest, exits 3, and passes over one elsewhere", async () => {
    const source = await appliedBranch();
    await commit(source, { "notes.md": "one\n", "data.json": '{ "a": 1 }\n' }, "Notes");
    await commit(source, { "services/api.yaml": scaled(3) }, "Scale up");
    await commitOnMain(source, { "notes.md": "two\n", "data.json": '{ "a": 2 }\n' });
    expect(stepsOf(await source.runHere([...plan, "main"]))).toEqual([ours]);
    await commitOnMain(source, { "services/api.yaml": scaled(5) });
    const ended = await source.runHere(["plan", "--base", "main"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(
      /services\/api\.yaml:1.*changed in ways that conflict: by [0-9a-f]{7,} \(Ada\) here, by [0-9a-f]{7,} \(Ada\) on main/,
    );
    expect(ended.stderr).toMatch(/error: this branch conflicts with main in 1 manifest file\n {2}→ git merge main/);

    await git(source.folder, "reset", "-q", "--hard", "HEAD~1");
    await rm(join(source.folder, "services/api.yaml"));
    const removed = await source.runHere(["plan", "--base", "main", "-o", "json"]);
    expect(removed.code).toBe(3);
    expect(JSON.parse(removed.stdout)).toMatchObject({
      error: { code: "invalid" },
      diagnostics: [{ code: "merge-conflict", summary: expect.stringContaining("by uncommitted changes here") }],
    });
  });

  test("passes over links and other repositories that the sides disagree on", async () => {
    const source = await appliedBranch();
    symlinkSync("services", join(source.folder, "link"));
    const inner = join(source.folder, "inner");
    await mkdir(inner);
    writeFileSync(join(inner, "a.yaml"), team("inner", "ada@example.com"));
    await commitAll(inner, "Inner");
    await commitAll(source.folder, "Link");
    await git(source.folder, "checkout", "-q", "main");
    await git(source.folder, "clean", "-qffd");
    await commit(source, { link: "a file\n", "inner/b.yaml": team("of-main", "ada@example.com") }, "Files");
    await git(source.folder, "checkout", "-q", "-f", "change");
    const ended = await source.runHere([...plan, "main"]);
    expect(ended).toMatchObject({ code: 0 });
  });
});

describe("a base that cannot be compared with", () => {
  const refused = async (source: Source, base: string): Promise<string> => {
    const ended = await source.runHere(["plan", "--base", base]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    return ended.stderr;
  };

  test("is refused with what it is: a tree, two things, deleted, without a common history", async () => {
    const source = await branch();
    const tree = await git(source.folder, "rev-parse", "HEAD^{tree}");
    expect(await refused(source, tree)).toContain(`error: ${tree} names a tree, not a commit`);
    await git(source.folder, "tag", "main", "HEAD");
    expect(await refused(source, "main")).toContain('error: "main" names more than one commit here');
    await git(source.folder, "branch", "gone");
    await git(source.folder, "branch", "-q", "-D", "gone");
    expect(await refused(source, "gone")).toMatch(/error: "gone" names no commit.*\n {2}→ .*git fetch origin gone/);
    await git(source.folder, "checkout", "-q", "--orphan", "apart");
    await git(source.folder, "commit", "-q", "-m", "Apart");
    expect(await refused(source, "change")).toContain("error: change and this branch share no history");
  });

  test("is compared in the state folder where the folder for temporary files is read-only", async (context) => {
    needsMounts(context);
    const source = await appliedBranch();
    await commit(source, { "services/api.yaml": scaled(3) });
    await commitOnMain(source, { "other.yaml": others(5) });
    const [temporary, state] = [await temporaryFolder(), await temporaryFolder()];
    const through = readOnly(temporary);
    const ended = await source.runThrough(through, [...plan, "main", "--state", state], { TMPDIR: temporary });
    expect(stepsOf(ended)).toContain(ours);
    expect(readdirSync(state).filter((name) => name.startsWith("holdfast-"))).toEqual([]);
    const refused = await source.runThrough(through, [...plan, "main", "--state", join(state, "absent")], {
      TMPDIR: temporary,
    });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.stderr).toMatch(/error: no temporary folder can be created in .*\n {2}→ /);
  });

  test("is told how to be fetched into a shallow clone, and into a partial one", async () => {
    const server = await serve(["--seed", (await sourceOf(committed)).folder]);
    const origin = await branch(server);
    await commit(origin, { "services/api.yaml": scaled(3) }, "Ours");
    await commitOnMain(origin, { "services/api.yaml": scaled(2), "other.yaml": others(9) });
    await git(origin.folder, "config", "uploadpack.allowFilter", "true");
    const clone = async (...args: readonly string[]): Promise<Source> => {
      const made = await sourceOf({}, server);
      await git(made.folder, "clone", "-q", "--branch", "change", ...args, `file://${origin.folder}`, ".");
      return made;
    };
    const shallow = await clone("--depth", "1");
    expect(await refused(shallow, "origin/main")).toMatch(
      /error: this shallow clone has no commit origin\/main\n {2}→ fetch it with its history: git fetch --unshallow origin main /,
    );
    await git(shallow.folder, "fetch", "-q", "--depth", "1", "origin", "main:refs/remotes/origin/main");
    expect(await refused(shallow, "origin/main")).toMatch(
      /error: this shallow clone has no commit that origin\/main and this branch share\n {2}→ .*git fetch --unshallow origin main/,
    );
    expect(await refused(shallow, "main")).toContain("→ did you mean --base origin/main?");
    await git(shallow.folder, "fetch", "-q", "--unshallow", "origin");
    expect(stepsOf(await shallow.runHere([...plan, "origin/main"]))).toContain("update service/dev:web/other pending");

    const partial = await clone("--filter=blob:none");
    expect(await refused(partial, "origin/main")).toMatch(
      /error: this partial clone lacks objects of origin\/main\n {2}→ fetch them: git fetch --refetch --no-filter origin/,
    );
    await git(partial.folder, "fetch", "-q", "--refetch", "--no-filter", "origin");
    expect(stepsOf(await partial.runHere([...plan, "origin/main"]))).toContain("update service/dev:web/other pending");
  });

  test("is named with the git that is too old to merge with it", async () => {
    const source = await branch();
    await commit(source, { "services/api.yaml": scaled(3) });
    await commitOnMain(source, { "other.yaml": others(5) });
    const bin = await temporaryFolder();
    const old = `#!/bin/sh\ncase "$1" in merge-tree) echo usage >&2; exit 129;; --version) echo git version 2.30.2; exit;; esac\n`;
    const [real = ""] = (process.env.PATH ?? "").split(":").filter((each) => existsSync(join(each, "git")));
    writeFileSync(join(bin, "git"), `${old}exec ${join(real, "git")} "$@"\n`, { mode: 0o755 });
    const ended = await source.run(["plan", "--base", "main"], { PATH: `${bin}:${process.env.PATH}` });
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /error: merging with main needs git 2\.38 or newer, and this is git version 2\.30\.2\n {2}→ /,
    );
  });
});

test("S42 nothing that a checkout configures runs while its base is merged", async () => {
  const source = await appliedBranch();
  const marker = join(await temporaryFolder(), "ran");
  await commit(source, {
    ".gitattributes": "*.yaml merge=evil filter=evil diff=evil\n",
    "services/api.yaml": scaled(3),
  });
  await commitOnMain(source, { "services/api.yaml": `# main\n${scaled(2)}` });
  for (const key of [
    "merge.evil.driver",
    "filter.evil.clean",
    "filter.evil.smudge",
    "diff.evil.textconv",
    "core.fsmonitor",
  ]) {
    await git(source.folder, "config", key, `touch ${marker}`);
  }
  const hooks = join(source.folder, ".git", "hooks");
  await mkdir(hooks, { recursive: true });
  for (const hook of ["reference-transaction", "post-index-change", "pre-commit"]) {
    writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  }
  await source.write("other.yaml", others(4));
  const temporary = await temporaryFolder();
  const ended = await source.run([...plan, "main"], { TMPDIR: temporary });
  expect(stepsOf(ended)).toEqual([ours, "update service/dev:web/other change"]);
  expect([readdirSync(dirname(marker)), readdirSync(temporary)]).toEqual([[], []]);
});
