import { describe, expect, test } from "vitest";
import { commitAll } from "../support/git.ts";
import { planOf, reportOf, validationOf } from "../support/json-output.ts";
import { account, everyKind } from "../support/manifests.ts";
import { serve } from "../support/server.ts";
import { exampleSource, sourceOf } from "../support/source.ts";

describe("flags have twins in the environment", () => {
  test("which count, and which flags overrule", async () => {
    const source = await sourceOf(everyKind, await serve());
    const env = { HOLDFAST_OUTPUT: "json", HOLDFAST_DETAILED_EXITCODE: "true", HOLDFAST_KIND: "team cluster" };
    const ended = await source.run(["plan"], env);
    expect(ended.code).toBe(2);
    expect(planOf(ended).summary.create).toBe(2);
    const overruled = await source.runHere(["plan", "-o", "text", "--kind", "team"], env);
    expect(overruled.stdout).toMatch(/^Plan: 1 to create/m);
    const applied = await source.runHere(["apply"], {
      HOLDFAST_YES: "1",
      HOLDFAST_NO_WAIT: "true",
      HOLDFAST_OUTPUT: "json",
    });
    expect(applied.code).toBe(0);
    expect(reportOf(applied).summary.created).toBe(8);
  });

  test("and the token may come from a file", async () => {
    const server = await serve();
    const source = await sourceOf({ ...everyKind, "operator/token": `${server.token}\n` }, server);
    const env = { HOLDFAST_TOKEN: "wrong", HOLDFAST_TOKEN_FILE: "operator/token" };
    expect(await source.runHere(["plan"], env)).toMatchObject({ code: 0 });
  });
});

describe("stdout carries the result alone", () => {
  test("so that JSON can be parsed whatever is logged and warned of", async () => {
    const server = await serve();
    const source = await sourceOf({ ...everyKind, "stray.yaml": "hello: world\n" }, server);
    const noisy = ["-o", "json", "--log-level", "trace"];
    expect(validationOf(await source.runHere(["validate", ...noisy])).summary).toMatchObject({
      warnings: 0,
      unmanaged: 1,
    });
    const plan = await source.runHere(["plan", ...noisy]);
    expect(planOf(plan).summary.create).toBe(8);
    expect(plan.stderr).toContain("Not ours: 1 document (1 without a type); --show unmanaged lists them");
    const applied = await source.runHere(["apply", "--yes", ...noisy]);
    expect(reportOf(applied).summary.created).toBe(8);
  });

  test("and nothing follows the result on stderr", async () => {
    const server = await serve();
    const source = await sourceOf({ ...everyKind, "stray.yaml": "hello: world\n" }, server);
    await commitAll(source.folder, "Declare everything");
    const api = "service/dev:web/api";
    const json = ["-o", "json"];
    const commands: readonly (readonly string[])[] = [
      ["validate"],
      ["validate", ...json],
      ["whoami"],
      ["conform"],
      ["conform", ...json],
      ["token", "list"],
      ["token", "create", "laptop", ...json],
      ["plan"],
      ["plan", ...json],
      ["apply", "--yes"],
      ["apply", "--yes", ...json],
      ["drift"],
      ["drift", ...json],
      ["why", `${api}/replicas`],
      ["adopt", api],
      ["resolve", ...json],
      ["status"],
      ["status", ...json],
      ["history"],
      ["redeploy", api, "--force", "--no-wait"],
      ["unlock", "--yes"],
      ["state", "check"],
      ["snapshot", "--out", "live.json", "--server", server.url],
      ["simulate", "--snapshot", "live.json", "--base", "main", ...json],
      ["hold", "team/ml", "--reason", "incident", "--until", "1h"],
      ["release", "team/ml"],
    ];
    for (const command of commands) {
      const ended = await source.runHere([...command, "--log-level", "trace"], {}, { endsWithResult: true });
      expect([command, ended.code, ended.stdout === ""]).toEqual([command, 0, false]);
    }
  });

  test("and a reader who has seen enough is no failure", async () => {
    const server = await serve();
    const accounts = Array.from({ length: 400 }, (_, index) => [`accounts/${index}.yaml`, account(`reader-${index}`)]);
    const source = await sourceOf({ ...everyKind, ...Object.fromEntries(accounts) }, server);
    for (const args of [["plan"], ["plan", "-o", "json"], ["validate", "-o", "json"], ["--help"]]) {
      const running = source.start(args);
      running.closeOutput();
      const ended = await running.ended;
      expect(ended.stderr).toBe("");
      expect(ended).toMatchObject({ code: 0, signal: null });
    }
  });

  test("without colours, unless they are asked for", async () => {
    const source = await sourceOf(everyKind, await serve());
    const colour = "\u001b[";
    expect((await source.runHere(["plan"])).stdout).not.toContain(colour);
    expect((await source.runHere(["plan"], { FORCE_COLOR: "1" })).stdout).toContain(colour);
    expect((await source.runHere(["plan", "--no-color"], { FORCE_COLOR: "1" })).stdout).not.toContain(colour);
    expect((await source.runHere(["plan"], { FORCE_COLOR: "1", NO_COLOR: "1" })).stdout).not.toContain(colour);
  });
});

describe("help and version", () => {
  test("are results: on stdout, with exit code 0", async () => {
    const source = await sourceOf({});
    const version = await source.run(["--version"]);
    const shown = /^holdfast \d+\.\d+\.\d+ \(commit [0-9a-f]{40}(?:-changed)?, Node v24\.\d+\.\d+\)\n$/;
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(shown), stderr: "" });
    for (const args of [["--help"], ["help"], ["apply", "--help"], ["help", "apply"]]) {
      const ended = await source.runHere(args);
      expect(ended).toMatchObject({ code: 0, stderr: "" });
      expect(ended.stdout).toContain("Usage: holdfast");
    }
  });

  test("name each argument of a command by itself", async () => {
    const source = await sourceOf({});
    const { stdout } = await source.runHere(["promote", "--help"]);
    expect(stdout).toContain("Usage: holdfast promote [options] <from> <to> [id...]\n");
    expect(stdout).toMatch(/\n {2}from {2,}the target .*\n {2}to {2,}the target .*\n {2}id {2,}identities/);
    const { stderr } = await source.runHere(["promote", "staging"]);
    expect(stderr).toContain("missing required argument 'to'");
  });
});

test("errors and diagnostics are as wide as COLUMNS says, else 80 columns, and in JSON whole", async () => {
  const team = "type: team\nname: ml\nmembers: [ada@example.com]\n";
  const source = await sourceOf({
    "teams/research-and-development/one.yaml": `${team}permited_roles_of_all_members: [a]\n`,
  });
  const server = `http://127.0.0.1:1/${"path/".repeat(20)}`;
  const runs = [
    ["validate"],
    ["plan"],
    ["drift"],
    ["plan", "--server", server, "--partial"],
    ["apply", "--yes", "-o", "x"],
  ];
  for (const args of runs) {
    const { stdout, stderr, code } = await source.run(args, { COLUMNS: "" });
    const lines = `${stdout}${stderr}`.split("\n");
    expect([args, lines.filter((line) => line.length > 80)]).toEqual([args, []]);
    expect([args, lines.length > 1, code === 0]).toEqual([args, true, false]);
  }
  const wide = await source.run(["validate"], { COLUMNS: "200" });
  const [first = ""] = wide.stdout.split("\n");
  expect(first).toMatch(/^teams\/research-and-development\/one\.yaml:4:1: error: .* \[unknown-field\]$/);
  expect(first.length).toBeGreaterThan(80);
  const log = await source.run(["plan", "--log-format", "json"], { COLUMNS: "" });
  const messages = log.stderr
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg);
  expect(messages).toContainEqual(expect.stringContaining(first));
});

test("the examples of the plan read the same from another folder and at another time", async () => {
  const server = await serve();
  const one = await exampleSource(server);
  const other = await exampleSource(server);
  // The digests of secrets are keyed by the state.
  const key = { HOLDFAST_STATE_KEY: Buffer.alloc(32, 7).toString("base64") };
  const first = await one.runHere(["plan", "-o", "json"], key);
  const second = await other.runHere(["plan", "-o", "json"], key);
  expect(second.stdout).toBe(first.stdout);
  expect(first.code).toBe(0);
});

describe("where stdout leads to a full disk", () => {
  /** As a shell redirects it. */
  const full = ["sh", "-c", 'exec "$0" "$@" > /dev/full'];
  const said = "the output cannot be written (ENOSPC); the command goes on\n";

  test("F35: plan says so and ends with 1", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    for (const args of [["plan"], ["plan", "-o", "json"], ["validate"]]) {
      const ended = await source.runThrough(full, args);
      expect(ended).toMatchObject({ code: 1, stdout: "" });
      expect(ended.stderr).toContain(said);
      expect(ended.stderr).not.toMatch(/\n\s+at /);
    }
  });

  test("F35: apply writes everything all the same", async () => {
    const server = await serve();
    const source = await sourceOf(everyKind, server);
    const ended = await source.runThrough(full, ["apply", "--yes"]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toContain(said);
    expect(await source.run(["plan", "--detailed-exitcode"])).toMatchObject({ code: 0 });
  });
});
