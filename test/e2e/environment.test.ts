import { chownSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { needsRoot } from "../support/as-root.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf } from "../support/json-output.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const STRANGER = 12_345;

/** Gives a checkout with all that is in it to another user. */
function giveAway({ folder }: Source): void {
  const paths = globSync("**", { cwd: folder, exclude: [".holdfast/**"] }).concat(globSync(".git/**", { cwd: folder }));
  for (const path of [".", ".git", ...paths]) chownSync(join(folder, path), STRANGER, STRANGER);
}

describe("a checkout that belongs to another user", () => {
  test("S42 is read with its commit and its base, and nothing that it configures runs", async (context) => {
    needsRoot(context);
    const server = await serve(["--seed", (await sourceOf(everyKind)).folder]);
    const source = await sourceOf({ ...everyKind, "holdfast.yaml": "" }, server);
    const marker = join(await temporaryFolder(), "ran");
    const base = await commitAll(source.folder, "Begin");
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const commit = await commitAll(source.folder, "Scale");
    await git(source.folder, "config", "core.fsmonitor", `touch ${marker}`);
    giveAway(source);
    const home = { HOME: await temporaryFolder() };
    const state = ["--state", await temporaryFolder()];
    const ended = await source.run(["plan", "-o", "json", "--base", base, ...state], home);
    expect(ended).toMatchObject({ code: 0 });
    expect(planOf(ended)).toMatchObject({ revision: commit, steps: [{ causedBy: "change" }], diagnostics: [] });
    expect(planOf(await source.run(["plan", "-o", "json", ...state], home)).revision).toBe(commit);
    expect(globSync(marker)).toEqual([]);
    expect(await source.run(["validate", "--strict"], home)).toMatchObject({ code: 0 });
  });

  test("S42 has no revision, with a warning, where its commit cannot be read", async (context) => {
    needsRoot(context);
    const source = await sourceOf({ "team.yaml": team("ml"), "holdfast.yaml": "" }, await serve());
    await commitAll(source.folder, "Begin");
    writeFileSync(join(source.folder, ".git/HEAD"), "ref: refs/heads/gone\n");
    giveAway(source);
    const home = { HOME: await temporaryFolder() };
    const ended = await source.run(["plan", "-o", "json", "--state", await temporaryFolder()], home);
    expect(ended).toMatchObject({ code: 0 });
    expect(planOf(ended)).toMatchObject({
      revision: null,
      summary: { create: 1 },
      diagnostics: [{ code: "unknown-revision", severity: "warning" }],
    });
  });
});

test("validate needs no git, and no home or temporary folder that can be written", async () => {
  const source = await sourceOf(everyKind);
  await commitAll(source.folder, "Begin");
  expect(await source.run(["validate", "--strict"])).toMatchObject({ code: 0, stderr: "" });
  await source.write(".holdfast/.gitignore", "*\n");
  const nowhere = { HOME: "/nonexistent", TMPDIR: "/nonexistent", PATH: await temporaryFolder() };
  expect(await source.run(["validate", "--strict"], nowhere)).toMatchObject({ code: 0, stderr: "" });
});

describe("variables in the environment", () => {
  test("that nobody knows are a warning with what was meant", async () => {
    const source = await sourceOf(everyKind);
    const ended = await source.runHere(["validate"], {
      HOLDFAST_TOKN: "x",
      HOLDFAST_CONCURENCY: "3",
      HOLDFAST_ODD: "1",
    });
    const strict = { HOLDFAST_ODD: "1", HOLDFAST_STRICT: "true" };
    for (const command of ["validate", "plan", "apply"]) {
      const refused = await source.runHere([command, "-o", "json"], strict);
      expect([refused.code, JSON.parse(refused.stdout).diagnostics]).toEqual([
        3,
        [
          expect.objectContaining({
            severity: "warning",
            code: "unknown-variable",
            summary: expect.stringMatching(/^HOLDFAST_ODD /),
          }),
        ],
      ]);
    }
    // Each command names it once in its JSON, also where it fails.
    const odd = { HOLDFAST_ODD: "1" };
    for (const command of [
      "plan",
      "apply",
      "drift",
      "whoami",
      "conform",
      "status",
      "history",
      "resolve",
      "unlock",
      "why team/ml",
    ]) {
      const [name = "", ...args] = command.split(" ");
      const { stdout } = await source.runHere([name, ...args, "-o", "json"], {
        ...odd,
        HOLDFAST_SERVER: "http://127.0.0.1:1",
      });
      expect([command, JSON.parse(stdout).diagnostics.map(({ code }: { code: string }) => code)]).toEqual([
        command,
        ["unknown-variable"],
      ]);
    }
    const { diagnostics } = JSON.parse(
      (await source.runHere(["validate", "-o", "json"], { HOLDFAST_ODD: "1" })).stdout,
    );
    expect(diagnostics).toMatchObject([{ code: "unknown-variable", file: null }]);
    expect(ended.code).toBe(0);
    expect(ended.stderr).toBe(
      [
        "warning: HOLDFAST_TOKN in the environment means nothing here; did you mean HOLDFAST_TOKEN? [unknown-variable]",
        "warning: HOLDFAST_CONCURENCY in the environment means nothing here; did you mean HOLDFAST_CONCURRENCY? [unknown-variable]",
        "warning: HOLDFAST_ODD in the environment means nothing here [unknown-variable]",
        "",
      ].join("\n"),
    );
  });

  test("that Kubernetes sets for a service that is called holdfast are ignored", async () => {
    const injected = {
      HOLDFAST_PORT: "tcp://10.0.0.1:7071",
      HOLDFAST_SERVICE_HOST: "10.0.0.1",
      HOLDFAST_SERVICE_PORT: "7071",
      HOLDFAST_SERVICE_PORT_HTTP: "7071",
      HOLDFAST_PORT_7071_TCP: "tcp://10.0.0.1:7071",
      HOLDFAST_PORT_7071_TCP_ADDR: "10.0.0.1",
      HOLDFAST_WEB_SERVICE_HOST: "10.0.0.2",
      HOLDFAST_WEB_PORT: "tcp://10.0.0.2:80",
    };
    const source = await sourceOf(everyKind);
    expect(await source.run(["validate"], injected)).toMatchObject({ code: 0, stderr: "" });
    const ended = await source.run(["serve", "--data", "data", "--host", "256.0.0.1"], injected);
    expect(ended.stderr).toContain("256.0.0.1");
    expect(ended.stderr).not.toContain("HOLDFAST_PORT");
  });
});
