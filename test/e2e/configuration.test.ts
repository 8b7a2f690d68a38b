import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll } from "../support/git.ts";
import { planOf } from "../support/json-output.ts";
import { team } from "../support/manifests.ts";
import { startRecordingServer } from "../support/recording-server.ts";
import { type Server, serve } from "../support/server.ts";
import { type Source, sourceOf } from "../support/source.ts";

const BROKEN = "paths: [manifests]\nguardz: {}\n";

/** A source whose manifests lie in one folder, and a manifest beside it that nobody asked for. */
function source(server: Server, config: string): Promise<Source> {
  return sourceOf({ "holdfast.yaml": config, "manifests/red.yaml": team("red"), "outside.yaml": team("blue") }, server);
}

const written = (server: Server): readonly string[] => server.effects().map(({ resource }) => resource);

describe("a configuration that is refused", () => {
  test("stops every command with 3, with --partial too, and nothing beside its paths is applied", async () => {
    const server = await serve();
    const { runHere } = await source(server, BROKEN);
    for (const command of [["apply", "--yes", "--partial"], ["plan", "--partial"], ["drift"]]) {
      const ended = await runHere(command);
      expect(ended).toMatchObject({ code: 3, stdout: "" });
      expect(ended.stderr).toMatch(/^holdfast\.yaml:2:1: error: .*guardz.* \[unknown-field\]$/m);
      expect(ended.stderr).toContain("error: the configuration is refused: holdfast.yaml\n");
    }
    expect(written(server)).toEqual([]);
  });

  test("stops a command when it is no regular file", async () => {
    const { folder, remove, runHere } = await source(await serve(), "");
    await remove("holdfast.yaml");
    await symlink("outside.yaml", join(folder, "holdfast.yaml"));
    expect(await runHere(["plan", "--partial"])).toMatchObject({ code: 3, stdout: "" });
  });

  test("stops a plan that has the good one of its base commit", async () => {
    const server = await serve();
    const { folder, write, runHere } = await source(server, "paths: [manifests]\n");
    await commitAll(folder, "Begin");
    expect(await runHere(["plan", "--base", "HEAD"])).toMatchObject({ code: 0 });
    await write("holdfast.yaml", BROKEN);
    expect(await runHere(["plan", "--base", "HEAD"])).toMatchObject({ code: 3, stdout: "" });
  });

  test("is told in JSON", async () => {
    const { runHere } = await source(await serve(), BROKEN);
    for (const command of [["plan"], ["drift"], ["apply", "--yes"]]) {
      const { code, stdout } = await runHere([...command, "-o", "json"]);
      expect(code).toBe(3);
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "invalid", message: "the configuration is refused: holdfast.yaml" },
        diagnostics: [{ severity: "error", code: "unknown-field", file: "holdfast.yaml", line: 2 }],
      });
    }
    const validated = await runHere(["validate", "-o", "json"]);
    expect(validated.code).toBe(3);
    expect(JSON.parse(validated.stdout)).toMatchObject({ summary: { errors: 1 }, diagnostics: [{ line: 2 }] });
  });

  test("ends `validate` when --config names it, and no folder is read", async () => {
    const { folder, write, remove, runHere } = await source(await serve(), "");
    await write("manifests/red.yaml", "type: team\nname: red\nmembers: 5\n");
    const outside = join(await temporaryFolder(), "operator.yaml");
    for (const file of [outside, join(folder, "operator.yaml")]) {
      for (const content of ["sources: 3\n", "guardz: {}\n", "sources: [\n", null]) {
        if (content === null) {
          await rm(file);
          await mkdir(file);
        } else await writeFile(file, content);
        const ended = await runHere(["validate", "--config", file]);
        expect(ended).toMatchObject({ code: 3, stdout: "" });
        expect(ended.stderr).toContain("error: the configuration is refused: ");
        expect(ended.stderr).not.toContain("red.yaml");
        const { code, stdout } = await runHere(["validate", "--config", file, "-o", "json"]);
        const { error, diagnostics } = JSON.parse(stdout);
        expect([code, error.code]).toEqual([3, "invalid"]);
        expect(diagnostics.map(({ file }: { file: string }) => basename(file))).toEqual(["operator.yaml"]);
      }
    }
    await remove("operator.yaml");
    await write("holdfast.yaml", BROKEN);
    const own = await runHere(["validate", "--config", join(folder, "holdfast.yaml")]);
    expect(own).toMatchObject({ code: 3, stdout: expect.stringContaining("red.yaml:3:10") });
  });

  test("is told in JSON where it sets what only the operator may, and so are manifests with errors", async () => {
    const { runHere, write } = await source(await serve(), "state: elsewhere\n");
    const refused = await runHere(["plan", "-o", "json"]);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "invalid" }, diagnostics: [] });
    await write("holdfast.yaml", "");
    await write("manifests/red.yaml", "type: team\nname: red\nmembers: []\n");
    const invalid = await runHere(["plan", "-o", "json"]);
    expect(invalid.code).toBe(3);
    expect(JSON.parse(invalid.stdout).diagnostics.length).toBeGreaterThan(0);
  });

  test("S7 sets notifications, which only the operator may: nobody is told", async () => {
    const recorder = await startRecordingServer();
    const receiver = `{name: x, type: webhook, url: "${recorder.url}"}`;
    const { runHere } = await source(await serve(), `paths: [manifests]\nnotifications: [${receiver}]\n`);
    const ended = await runHere(["watch"]);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("holdfast.yaml sets notifications") });
    expect(recorder.requests).toEqual([]);
  });
});

describe("a watch", () => {
  test("that begins with a broken configuration ends with 3", async () => {
    const server = await serve();
    const { runHere } = await source(server, BROKEN);
    expect(await runHere(["watch"])).toMatchObject({ code: 3, stdout: "" });
    expect(written(server)).toEqual([]);
  });

  test("keeps its last applied revision while the configuration is broken, and goes on when it is mended", async () => {
    const server = await serve();
    const { start, write } = await source(server, "paths: [manifests]\n");
    const watch = start(["watch", "--interval", "0.3"]);
    await watch.shows("stdout", /^Applied: 1 created$/m);
    await write("holdfast.yaml", BROKEN);
    await watch.shows(
      "stderr",
      /holdfast\.yaml:2:1: error: .*\nerror: the configuration is refused: .*\n.*\nkeeping the last applied revision\n/,
    );
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "red", members: ["eve@example.com"] },
    });
    await watch.shows("stdout", /updated {3}team\/red/);
    expect(written(server)).not.toContain("team/blue");
    await write("holdfast.yaml", "paths: [manifests, outside.yaml]\n");
    await watch.shows("stdout", /created {3}team\/blue/);
    expect(watch.stderr().match(/keeping the last applied revision/g)).toHaveLength(1);
    watch.kill("SIGTERM");
    expect(await watch.ended).toMatchObject({ code: 0 });
  });

  test("keeps its last applied revision while the configuration is gone", async () => {
    const server = await serve();
    const { remove, start, write } = await source(server, "paths: [manifests]\n");
    const watch = start(["watch"]);
    await watch.shows("stdout", /^Applied: 1 created$/m);
    await remove("holdfast.yaml");
    await watch.shows(
      "stderr",
      /error: the source no longer has a holdfast\.yaml, .*\n.*\nkeeping the last applied revision\n/,
    );
    await write("holdfast.yaml", "paths: [manifests]\n");
    await write("manifests/green.yaml", team("green"));
    await watch.shows("stdout", /created {3}team\/green/);
    expect(written(server)).not.toContain("team/blue");
  });

  test("watches the paths that its configuration names, as they change", async () => {
    const server = await serve();
    const { start, write } = await source(server, "paths: [manifests]\n");
    const watch = start(["watch", "--interval", "600"]);
    await watch.shows("stdout", /^Applied: 1 created$/m);
    await write("more/green.yaml", team("green"));
    await write("holdfast.yaml", "paths: [manifests, more]\n");
    await watch.shows("stdout", /created {3}team\/green/);
    await write("more/green.yaml", team("green", "grace@example.com"));
    await watch.shows("stdout", /updated {3}team\/green/);
  });
});

describe("a source whose ledger remembers a configuration", () => {
  test("and that has none is refused with 5 until it is restored, or --allow-shrink is given", async () => {
    const server = await serve();
    const { remove, write, runHere } = await source(server, "paths: [manifests]\n");
    expect(await runHere(["plan"])).toMatchObject({ code: 0 });
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await remove("holdfast.yaml");
    for (const command of [["apply", "--yes"], ["plan"], ["drift"], ["why", "team/red"], ["redeploy", "team/red"]]) {
      const ended = await runHere(command);
      expect(ended).toMatchObject({ code: 5, stdout: "" });
      expect(ended.stderr).toMatch(
        /^error: the source no longer has a holdfast\.yaml.*\n {2}→ .*apply or watch with --allow-shrink$/m,
      );
    }
    await write("holdfast.yaml", "paths: [manifests]\n");
    expect(await runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 1 unchanged\n"),
    });
    await remove("holdfast.yaml");
    expect(await runHere(["apply", "--yes", "--allow-shrink"])).toMatchObject({ code: 0 });
    expect(await runHere(["apply", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("\nApplied: 2 unchanged\n"),
    });
  });
});

describe("the operator's own file, which --config names", () => {
  test("is read beside the source's, and replaces its values key by key", async () => {
    const server = await serve();
    const outside = await temporaryFolder();
    const { runHere, write } = await source(server, "paths: [manifests]\nexternal: [team/blue]\n");
    const operators = await sourceOf({ "ops.yaml": "external: [team/red]\n" });
    const config = join(operators.folder, "ops.yaml");
    expect(
      planOf(await runHere(["plan", "--config", config, "-o", "json"])).steps.map(({ identity }) => identity),
    ).toEqual(["team/red"]);
    await operators.write("ops.yaml", "paths: [outside.yaml]\n");
    expect(
      planOf(await runHere(["plan", "--config", config, "-o", "json"])).steps.map(({ identity }) => identity),
    ).toEqual(["team/blue"]);
    await write("holdfast.yaml", BROKEN);
    expect(await runHere(["plan", "--config", config])).toMatchObject({ code: 3 });
    await mkdir(join(outside, "folder.yaml"));
    expect(await runHere(["plan", "--config", join(outside, "folder.yaml")])).toMatchObject({ code: 3 });
  });
});

describe("guards", () => {
  const teams = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`t${n}.yaml`, team(`t${n}`)]));

  test("are made stricter by the source, and looser by the operator alone", async () => {
    const server = await serve();
    const { remove, write, runHere } = await sourceOf(
      { ...teams, "holdfast.yaml": "guards: {shrinkShare: 0.95}\n" },
      server,
    );
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await remove("t0.yaml");
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 5 });
    await write("holdfast.yaml", "guards: {shrinkShare: 0.1}\n");
    const looser = await runHere(["apply", "--yes"]);
    expect(looser).toMatchObject({ code: 3, stdout: "" });
    expect(looser.stderr).toMatch(/^error: holdfast\.yaml sets looser guards, which only the operator may$/m);
    for (let n = 1; n < 8; n++) await remove(`t${n}.yaml`);
    await write("holdfast.yaml", "guards: {shrinkShare: 0.95}\n");
    const operators = await sourceOf({ "ops.yaml": "guards: {shrinkShare: 0.1}\n" });
    const config = join(operators.folder, "ops.yaml");
    expect(await runHere(["apply", "--yes", "--config", config])).toMatchObject({ code: 0 });
  });
});

describe("a plan of an empty source", () => {
  test("ends with 5 where resources are recorded, and with a warning where none is", async () => {
    const server = await serve();
    const { remove, runHere } = await sourceOf({ "team.yaml": team("red") }, server);
    const empty = await sourceOf({ "README.txt": "" }, server);
    const nothing = await empty.runHere(["plan", "-o", "json"]);
    expect(nothing).toMatchObject({ code: 0, stderr: "warning: no manifest files were found [empty-source]\n" });
    expect(planOf(nothing).diagnostics).toMatchObject([{ severity: "warning", code: "empty-source" }]);
    expect(await runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await remove("team.yaml");
    const emptied = await runHere(["plan"]);
    expect(emptied).toMatchObject({ code: 5, stdout: "" });
    expect(emptied.stderr).toContain("error: the source declares nothing, but the ledger knows one resource\n");
    expect(await runHere(["plan", "--allow-shrink"])).toMatchObject({ code: 0 });
  });
});
