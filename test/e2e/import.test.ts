import { globSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ImportReport } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { everyKind, foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import type { Ended } from "../support/process.ts";
import { makeSecretGroup } from "../support/secret-group.ts";
import { serve } from "../support/server.ts";
import { exampleCount, exampleSource, type Source, sourceOf } from "../support/source.ts";

const NOTHING = /^Plan: nothing to do, (\d+) unchanged\n$/;

const filesIn = ({ folder }: Source): readonly string[] => globSync("live/**/*.yaml", { cwd: folder }).toSorted();
const textsIn = (source: Source) =>
  filesIn(source).map((file) => [file, readFileSync(join(source.folder, file), "utf8")]);

function reportOf({ stdout }: Ended): ImportReport {
  expect(faultsOf("import", stdout)).toEqual([]);
  return JSON.parse(stdout);
}

/** Everything that lives, imported into a folder of its own; then a plan of it finds nothing to do. */
async function roundTrip(server: Awaited<ReturnType<typeof serve>>): Promise<Source> {
  const before = server.effects();
  const source = await sourceOf({}, server);
  const imported = await source.runHere(["import", "--into", "live"]);
  expect(imported).toMatchObject({ code: 0, stderr: "" });
  expect(await source.runHere(["validate"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/: valid\n$/) });
  expect(await source.runHere(["plan"])).toMatchObject({ code: 0, stdout: expect.stringMatching(NOTHING) });
  expect(server.effects()).toEqual(before);
  return source;
}

test("the examples make a round trip, and a second import writes nothing", async () => {
  const server = await serve();
  await makeSecretGroup(server);
  expect(await (await exampleSource(server)).runHere(["apply", "--yes", "--sink", "file"])).toMatchObject({ code: 0 });
  const source = await roundTrip(server);
  expect(filesIn(source).length).toBeGreaterThan(exampleCount - 20);
  expect(readFileSync(join(source.folder, "live/prod-eu/ranking/workspace.yaml"), "utf8")).toMatch(
    /^# yaml-language-server: \$schema=\.\.\/\.\.\/\.holdfast\.schema\.json\ntype: workspace\nname: ranking\ncluster_fqn: prod-eu\n/,
  );
  expect(JSON.parse(readFileSync(join(source.folder, "live/.holdfast.schema.json"), "utf8"))).toHaveProperty("allOf");
  const [texts, { mtimeMs }] = [textsIn(source), statSync(join(source.folder, "live/.holdfast.schema.json"))];
  const again = await source.runHere(["import", "--into", "live"]);
  expect(again.stdout).toMatch(
    /^ {2}skipped {2}secret-group\/platform: .*\nImport: nothing written, \d+ unchanged, 1 skipped\n$/,
  );
  expect(textsIn(source)).toEqual(texts);
  expect(statSync(join(source.folder, "live/.holdfast.schema.json")).mtimeMs).toBe(mtimeMs);
});

describe.each(controlPlaneVariants)("an import from a $name control plane", (plane) => {
  test("has what can be read, and says what cannot", async () => {
    const server = await plane.serve();
    const origin = await sourceOf(everyKind, server);
    expect((await origin.runHere(["apply", "--yes", "--sink", "file"])).code).toBe(0);
    const source = await roundTrip(server);
    const read = [
      ...["chat_prompts/registry/greeting", "dev/cluster", "dev/web/workspace", "ml-repos/registry"],
      "model-versions/registry/ranker",
    ];
    const listed = ["dev/web/api", "teams/ml", "virtual-accounts/ci"];
    const all = (plane.name === "full" ? [...read, ...listed] : read).toSorted();
    expect(filesIn(source)).toEqual(all.map((path) => `live/${path}.yaml`));
    const report = reportOf(await source.runHere(["import", "--into", "live", "-o", "json"]));
    expect(report.summary).toEqual({ written: 0, updated: 0, unchanged: all.length, differs: 0, skipped: 0 });
    const why = "this control plane has no list of them (/api/svc/v1/teams)";
    const unread = report.unread.find(({ kind }) => kind === "team");
    expect(unread).toEqual(plane.name === "full" ? undefined : { kind: "team", why, isFailure: false });
    // With its ledger, the source that applied them finds applications by their ids.
    await origin.remove("services/api.yaml");
    await origin.runHere(["import", "service", "--into", "live"]);
    expect(filesIn(origin)).toEqual(["live/dev/web/api.yaml"]);
  });
});

test("what holds a secret in plain text is listed and not written, and its value is shown nowhere", async () => {
  const server = await serve();
  const canary = "canary-plain-value";
  const token = `ghp_${"a1B2".repeat(9)}`;
  const origin = await sourceOf(
    {
      ...foundations,
      "a.yaml": service("a", `env:\n  DB_PASSWORD: ${canary}\n`),
      "b.yaml": service("b", `env:\n  NAME: ${token}\n`),
      "c.yaml": service("c", "env:\n  DB_PASSWORD_FILE: /run/secret\n"),
      "holdfast.yaml": "allowLiteralSecrets: ['b.yaml']\n",
    },
    server,
  );
  expect((await origin.runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  const text = await source.runHere(["import", "--into", "live"]);
  expect(text.code).toBe(0);
  expect(text.stdout.replaceAll(/\s+/g, " ")).toContain(
    "skipped service/dev:web/a: it holds a secret in plain text (/env/DB_PASSWORD: put it into a secret",
  );
  expect(filesIn(source)).toContain("live/dev/web/c.yaml");
  const json = await source.runHere(["import", "--into", "live", "-o", "json"]);
  expect(reportOf(json).resources.filter(({ result }) => result === "skipped")).toMatchObject([
    { identity: "service/dev:web/a", why: "literal-secret", file: null },
    { identity: "service/dev:web/b", why: "literal-secret", file: null },
  ]);
  for (const shown of [text.stdout, text.stderr, json.stdout, ...textsIn(source).flat()]) {
    expect([shown?.includes(canary), shown?.includes(token)]).toEqual([false, false]);
  }
});

const BASIC = { type: "basic_auth", username: "ops", password: "canary-plain-value" };

test("a secret in plain text is found in fields that the schema has for it, and in those that it lacks", async () => {
  const server = await serve(["--unknown-fields", "allow"]);
  const token = `ghp_${"a1B2".repeat(9)}`;
  const secrets: readonly (readonly [name: string, fields: object, pointer: string])[] = [
    ["a", { password: "canary-plain-value" }, "/password"],
    ["b", { annex: { notes: [{ text: token }] } }, "/annex/notes/0/text"],
    ["c", { annex: { api_keys: { PASSWORD: "canary-plain-value" } } }, "/annex/api_keys/PASSWORD"],
    ["d", { ports: [{ port: 8080, expose: false, auth_token: "canary-plain-value" }] }, "/ports/0/auth_token"],
    ["f", { ports: [{ port: 8080, auth: BASIC }] }, "/ports/0/auth/password"],
  ];
  const source = await sourceOf({ ...foundations, "holdfast.yaml": "unknownFields: warn\n" }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  for (const [name, fields] of [...secrets, ["e", { annex: { note: "kept" } }] as const]) {
    const image = { type: "image", image_uri: "registry.example.com/a:1" };
    const ports = [{ port: 8080, expose: false }];
    const manifest = { type: "service", name, workspace_fqn: "dev:web", image, ports, ...fields };
    await server.call("PUT", "/api/svc/v1/apps", { manifest });
  }
  const json = await source.runHere(["import", "service", "--into", "live", "-o", "json"]);
  const skipped = reportOf(json).resources.filter(({ result }) => result === "skipped");
  expect(skipped).toMatchObject(
    secrets.map(([name, , pointer]) => ({
      identity: `service/dev:web/${name}`,
      why: "literal-secret",
      detail: expect.stringContaining(`${pointer}: put`),
    })),
  );
  expect(filesIn(source)).toEqual(["live/dev/web/e.yaml"]);
  for (const shown of [json.stdout, json.stderr, ...textsIn(source).flat()])
    expect([shown?.includes("canary"), shown?.includes(token)]).toEqual([false, false]);
});

test("files with other content are not overwritten without --force, and then nothing is written", async () => {
  const server = await serve();
  expect(
    (await (await sourceOf({ ...foundations, "ml.yaml": team("ml") }, server)).runHere(["apply", "--yes"])).code,
  ).toBe(0);
  const source = await sourceOf({ "live/teams/ml.yaml": "# mine\n" }, server);
  const refused = await source.runHere(["import", "--into", "live"]);
  expect(refused).toMatchObject({ code: 5, stdout: "" });
  expect(refused.stderr.replaceAll(/\s+/g, " ")).toContain("in the way: teams/ml.yaml");
  expect(filesIn(source)).toEqual(["live/teams/ml.yaml"]);
  expect((await source.runHere(["import", "--into", "live", "--force"])).stdout).toContain("4 written to live");
  expect(readFileSync(join(source.folder, "live/teams/ml.yaml"), "utf8")).toContain("name: ml\n");
});

test("a file that declares another resource is not overwritten, also with --force", async () => {
  const server = await serve();
  const files = { "a.yaml": team("cluster"), "b.yaml": "type: cluster\nname: teams\ncluster_type: generic\n" };
  expect((await (await sourceOf(files, server)).runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  expect(await source.runHere(["import", "team", "--into", "live"])).toMatchObject({ code: 0 });
  const texts = textsIn(source);
  expect(texts.map(([file]) => file)).toEqual(["live/teams/cluster.yaml"]);
  const refused = await source.runHere(["import", "cluster", "--into", "live", "--force"]);
  expect([refused.code, refused.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    5,
    expect.stringContaining("teams/cluster.yaml would be the file of cluster/teams, and declares team/cluster"),
  ]);
  expect(textsIn(source)).toEqual(texts);
});

test("what the source declares, wherever that is, is not written a second time", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "ml.yaml": team("ml") }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  await source.write("ml.yaml", `# ours\n${team("ml", "eve@example.com")}`);
  const ended = await source.runHere(["import", "--into", "live"]);
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stdout).toContain("differs  team/ml: declared otherwise, left as it is\n");
  expect(ended.stdout).toContain("Import: nothing written, 3 unchanged, 1 differs\n");
  expect(filesIn(source)).toEqual([]);
});

test("a source that is lost with its configuration can be imported, since only files are written", async () => {
  const server = await serve();
  const source = await sourceOf({ ...foundations, "holdfast.yaml": "concurrency: 2\n" }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  for (const path of ["platform", "holdfast.yaml"]) await source.remove(path);
  expect(await source.runHere(["plan"])).toMatchObject({ code: 5, stderr: expect.stringContaining("--allow-shrink") });
  const imported = await source.runHere(["import", "--into", "live"]);
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringContaining("Import: 3 written to live"), stderr: "" });
  expect((await source.runHere(["plan", "--allow-shrink"])).stdout).toMatch(NOTHING);
});

test("only what is asked for is imported; what is not there is an error", async () => {
  const server = await serve();
  expect((await (await sourceOf(everyKind, server)).runHere(["apply", "--yes", "--sink", "file"])).code).toBe(0);
  const source = await sourceOf({}, server);
  const some = await source.runHere(["import", "team", "service/dev:*/a*", "--into", "live"]);
  expect([some.code, filesIn(source)]).toEqual([0, ["live/dev/web/api.yaml", "live/teams/ml.yaml"]]);
  const absent = await source.runHere(["import", "team/nobody", "--into", "live", "-o", "json"]);
  expect([absent.code, reportOf(absent).resources]).toMatchObject([1, [{ identity: "team/nobody", why: "absent" }]]);
  const wrong = await source.runHere(["import", "servce", "--into", "live"]);
  expect(wrong).toMatchObject({ code: 3, stderr: expect.stringContaining("did you mean service?") });
  expect(await source.runHere(["import", "team"])).toMatchObject({ code: 3 });
});

test("a link does not lead an import out of its folder", async () => {
  const server = await serve();
  expect((await (await sourceOf(foundations, server)).runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  mkdirSync(join(source.folder, "live"));
  mkdirSync(join(source.folder, "elsewhere"));
  symlinkSync("../elsewhere", join(source.folder, "live/dev"));
  const ended = await source.runHere(["import", "--into", "live"]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("symbolic link") });
  expect(globSync("**/*.yaml", { cwd: source.folder })).toEqual([]);
});

test("references to what cannot be imported are named, with what makes them valid", async () => {
  const server = await serve();
  const origin = await sourceOf(
    {
      ...foundations,
      "a.yaml": team("a"),
      "b.yaml": team("b"),
      "w.yaml":
        "type: workspace\nname: ops\ncluster_fqn: dev\ncollaborators:\n  - {subject: team:a, role_id: workspace-viewer}\n",
    },
    server,
  );
  expect((await origin.runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  const ended = await source.runHere(["import", "--exclude", "team/a", "--into", "live"]);
  expect(ended.stdout).toContain('external:\n  - "team/a"\n');
  expect(await source.runHere(["validate"])).toMatchObject({ code: 3 });
  await source.write("holdfast.yaml", 'external:\n  - "team/a"\n');
  expect((await source.runHere(["plan"])).stdout).toMatch(NOTHING);
});

test("an import that is killed leaves whole files, and can be repeated", async () => {
  const server = await serve();
  const files = Array.from({ length: 400 }, (_, nth) => [`team-${nth}.yaml`, team(`team-${nth}`)] as const);
  const origin = await sourceOf(Object.fromEntries(files), server);
  expect((await origin.runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  const running = source.start(["import", "--into", "live"]);
  await eventually("a file", () => filesIn(source).length > 0, { everyMs: 1 });
  running.kill("SIGKILL");
  await running.ended;
  const left = textsIn(source);
  expect((await source.run(["import", "--into", "live"])).code).toBe(0);
  expect(filesIn(source)).toHaveLength(400);
  expect(globSync("live/**/*.yaml.*", { cwd: source.folder })).toEqual([]);
  const whole = new Map(textsIn(source).map(([file, text]) => [file, text]));
  expect(left.filter(([file = "", text]) => whole.get(file) !== text)).toEqual([]);
  expect((await source.runHere(["plan"])).stdout).toBe("Plan: nothing to do, 400 unchanged\n");
});

test("an import that was stopped between two files can be run again", async () => {
  const server = await serve();
  const declared = { ...foundations, "a.yaml": team("a"), "b.yaml": team("b"), "w.yaml": `${WORKSPACE_OF_A}\n` };
  expect((await (await sourceOf(declared, server)).runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({}, server);
  expect(await source.runHere(["import", "--into", "live"])).toMatchObject({ code: 0 });
  const texts = textsIn(source);
  await source.remove("live/teams/a.yaml");
  // The draft of the file that was being written; the others are no drafts, or not of this import.
  const draft = "6f1c1b0e-3a52-4c55-9a0e-0c8a2f5d7e11";
  for (const name of [`a.yaml.${draft}`, `z.yaml.${draft}`, "a.yaml.bak", "a.yaml.6f1c1b0e"])
    await source.write(`live/teams/${name}`, "type: te");
  const again = await source.runHere(["import", "--into", "live"]);
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("Import: 1 written to live, ")]);
  expect(again.stdout).not.toContain("differ");
  expect(globSync("live/teams/*.yaml.*", { cwd: source.folder }).toSorted()).toEqual(
    ["a.yaml.6f1c1b0e", "a.yaml.bak", `z.yaml.${draft}`].map((name) => `live/teams/${name}`),
  );
  expect(textsIn(source)).toEqual(texts);
  await source.remove("live/teams/a.yaml");
  expect(await source.runHere(["plan"])).toMatchObject({ code: 3 });
});

const WORKSPACE_OF_A =
  "type: workspace\nname: ops\ncluster_fqn: dev\ncollaborators:\n  - {subject: team:a, role_id: workspace-viewer}";

test("a place that cannot be written is named, and the import can be run again", async () => {
  const server = await serve();
  expect((await (await sourceOf(foundations, server)).runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({ "live/dev": "a file" }, server);
  const ended = await source.runHere(["import", "--into", "live"]);
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/live\/dev cannot be written\s+\(EEXIST\)/) });
  await source.remove("live/dev");
  expect(await source.runHere(["import", "--into", "live"])).toMatchObject({ code: 0 });
});

test("a schema that is a link stops an import before anything is written", async () => {
  const server = await serve();
  expect((await (await sourceOf(foundations, server)).runHere(["apply", "--yes"])).code).toBe(0);
  const source = await sourceOf({ "live/README.md": "" }, server);
  symlinkSync("elsewhere", join(source.folder, "live/.holdfast.schema.json"));
  expect(await source.runHere(["import", "--into", "live"])).toMatchObject({ code: 3 });
  expect(filesIn(source)).toEqual([]);
});
