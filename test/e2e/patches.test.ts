import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/folder.ts";
import { commitAll, git } from "../support/git.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { type Files, foundations, service, team } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { guarded, sourceOf } from "../support/source.ts";
import { operatorOf, upstreamOf } from "../support/upstream.ts";

const patch = `match: service/prod:web/api
patch:
  replicas: 3
  env: { MODE: production }
`;

const WEB = "match: workspace/dev:web\n";
const ADMIN = `${foundations["platform/workspace.yaml"]}collaborators: [{ subject: "team:everyone", role_id: workspace-admin }]\n`;

async function environments(intervals = {}, plane: Awaited<ReturnType<typeof serve>> | null = null) {
  const server = plane ?? (await serve());
  const upstream = await upstreamOf({
    ...foundations,
    "api.yaml": service("api", "replicas: 1\nenv: { MODE: staging }\n"),
    "patches/prod/api.yaml": patch,
    "team.yaml": team("ml"),
    "patches/other/api.yaml": "type: service\nname: [\n",
  });
  const source = { name: "platform", url: upstream.folder, ref: "main" };
  const prod = {
    name: "prod",
    paths: ["platform", "api.yaml", "patches"],
    patches: "patches/prod/",
    rename: { clusters: { dev: "prod" } },
    ...intervals,
  };
  const other = { name: "other", paths: ["team.yaml"], patches: "patches/other" };
  const operator = await operatorOf({ sources: [source], targets: [prod, other] }, server);
  const run = Object.assign(operator.runHere, { folder: operator.folder });
  return { server, upstream, operator, run };
}

describe("a target with patches", () => {
  test("applies its manifests with them, and explains each value by the line of the patch", async () => {
    const { upstream, run } = await environments();
    expect(await run(["validate", "--target", "prod"])).toMatchObject({ code: 0 });
    const applied = await run(["apply", "--target", "prod", "--yes", "--no-wait", "-o", "json"]);
    expect(applied).toMatchObject({ code: 0 });
    expect(reportOf(applied).outcomes.map(({ identity }) => identity)).toContain("service/prod:web/api");
    const why = await run(["why", "service/prod:web/api/replicas", "--target", "prod", "-o", "json"]);
    expect(JSON.parse(why.stdout)).toMatchObject({
      wanted: { value: 3, file: "patches/prod/api.yaml", line: 3, commit: await upstream.git("rev-parse", "HEAD") },
      live: { value: 3 },
    });
    const commit = await upstream.commit({ "patches/prod/api.yaml": patch.replace("3", "4") });
    const planned = await run(["plan", "--target", "prod", "-o", "json"]);
    expect(planOf(planned)).toMatchObject({
      revision: commit,
      steps: [{ identity: "service/prod:web/api", changes: [{ path: "/replicas", before: 3, after: 4 }] }],
    });
  });

  test("refuses what a patch makes invalid at the patch, and nothing of other targets is read", async () => {
    const { upstream, run } = await environments();
    await upstream.commit({ "patches/prod/b.yaml": "match: service/prod:web/*\npatch: { replicas: many }\n" });
    const ended = await run(["plan", "--target", "prod"]);
    expect(ended.code).toBe(3);
    expect(ended.stderr).toContain("patches/prod/b.yaml:2:20: error: `replicas`");
    expect(ended.stderr).not.toContain("patches/other");
  });
});

test("a plan names the place of each changed value: in the manifest, or in the patch that sets or removes it", async () => {
  const { upstream, run } = await environments();
  expect(await run(["apply", "--target", "prod", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
  const files: Files = {
    "api.yaml": service("api", "replicas: 1\nlabels: { tier: web }\nenv: { MODE: staging }\n"),
    "patches/prod/api.yaml": `${patch.replace("3", "4").replace("production", "null")}  ports: [{ port: 8080, $delete: true }]\n`,
  };
  await upstream.commit(files);
  const planned = await run(["plan", "--target", "prod", "-o", "json"]);
  expect(faultsOf("plan", planned.stdout)).toEqual([]);
  const places = planOf(planned).steps.flatMap(({ changes }) =>
    changes.map(({ label, file = "", line = 0 }) => [label, file, (files[file] ?? "").split("\n")[line - 1]]),
  );
  expect(places).toEqual([
    ["env.MODE", "patches/prod/api.yaml", "  env: { MODE: null }"],
    ["labels.tier", "api.yaml", "labels: { tier: web }"],
    ["ports[8080:TCP].port", "patches/prod/api.yaml", "  ports: [{ port: 8080, $delete: true }]"],
    ["ports[8080:TCP].protocol", "patches/prod/api.yaml", "  ports: [{ port: 8080, $delete: true }]"],
    ["replicas", "patches/prod/api.yaml", "  replicas: 4"],
  ]);
  const text = await run(["plan", "--target", "prod"]);
  expect(text.stdout).toMatch(/replicas +3 → 4\n {15}patches\/prod\/api\.yaml:3\n/);
  expect(text.stdout).toMatch(/labels\.tier .*\n(?! *api\.yaml)/);
});

test.each([
  ["full", []],
  ["documented-only", ["--documented-only"]],
] as const)(
  "why names the line of the patch on a %s control plane, also for what a patch removes, and that of a renamed reference",
  async (_, flags) => {
    const seeds = Object.entries(foundations).map(([name, text]) => [name, text.replaceAll("dev", "prod")]);
    const seed = await sourceOf(Object.fromEntries(seeds));
    const { upstream, run } = await environments({}, await serve([...flags, "--seed", seed.folder]));
    const why = async (field: string) => {
      const answered = await run(["why", `service/prod:web/api${field}`, "--target", "prod", "-o", "json"]);
      expect([answered.code, faultsOf("why", answered.stdout)]).toEqual([0, []]);
      return JSON.parse(answered.stdout);
    };
    expect(await run(["apply", "--target", "prod", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    const removing = `${patch.replace("3", "4").replace("production", "null")}  ports: [{ port: 8080, $delete: true }]\n`;
    await upstream.commit({ "patches/prod/api.yaml": removing });
    const file = "patches/prod/api.yaml";
    expect(await why("/workspace_fqn")).toMatchObject({ wanted: { value: "prod:web", file: "api.yaml", line: 3 } });
    expect(await why("/ports/8080:TCP/port")).toMatchObject({
      wanted: { value: null, file, line: 5 },
      live: { value: 8080 },
    });
    expect((await why("")).changes).toMatchObject([
      { label: "env.MODE", file, line: 4 },
      { label: "ports[8080:TCP].port", file, line: 5 },
      { label: "ports[8080:TCP].protocol", file, line: 5 },
      { label: "replicas", before: 3, after: 4, file, line: 3 },
    ]);
    const text = await run(["why", "service/prod:web/api", "--target", "prod"]);
    expect(text.stdout).toMatch(/replicas +3 → 4\n {15}patches\/prod\/api\.yaml:3\n/);

    // Once it is gone everywhere, the patch still says why.
    expect(await run(["apply", "--target", "prod", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    for (const [field, line] of [
      ["/ports/8080:TCP", 5],
      ["/env/MODE", 4],
    ] as const)
      expect(await why(field)).toMatchObject({ wanted: { value: null, file, line }, live: { value: null } });
    const absent = await run(["why", "service/prod:web/api/env/MODES", "--target", "prod"]);
    expect(absent).toMatchObject({ code: 3, stderr: expect.stringContaining("has no field /env/MODES") });
  },
);

describe("render", () => {
  test("prints what apply makes of the target, and where each value stands", async () => {
    const { server, run } = await environments();
    expect(await run(["apply", "--target", "prod", "--yes", "--no-wait"])).toMatchObject({ code: 0 });
    const rendered = await run(["render", "--target", "prod"]);
    expect(rendered).toMatchObject({ code: 0 });
    expect(rendered.stdout).toContain("  MODE: production # patches/prod/api.yaml:4\n");
    const plain = await sourceOf({ "rendered.yaml": rendered.stdout }, server);
    expect(await plain.runHere(["validate", "--strict"])).toMatchObject({ code: 0 });
    const planned = await plain.runHere(["plan", "-o", "json", "--detailed-exitcode"]);
    expect(planned).toMatchObject({ code: 0 });
    expect(planOf(planned).steps).toEqual([]);
    const json = await run(["render", "service/prod:web/api", "--target", "prod", "-o", "json"]);
    expect(faultsOf("render", json.stdout)).toEqual([]);
    expect(JSON.parse(json.stdout).manifests[0].places).toContainEqual({
      path: "/replicas",
      file: "patches/prod/api.yaml",
      line: 3,
      column: 13,
    });
  });

  test("writes more manifests than one file may hold, and applied they make what the target makes", async () => {
    const { server, upstream, run } = await environments();
    const names = Array.from({ length: 300 }, (_, at) => `job-${at}`);
    const half = (from: number) => names.slice(from, from + 150).map((name) => service(name, "replicas: 1\n"));
    const more = "match: service/prod:web/job-1*\npatch: { replicas: 2, env: { MODE: production } }\n";
    await upstream.commit({
      "platform/a.yaml": half(0).join("---\n"),
      "platform/b.yaml": half(150).join("---\n"),
      "patches/prod/more.yaml": more,
    });
    const written = await run(["render", "--target", "prod", "--into", "out/prod"]);
    expect(written).toMatchObject({ code: 0, stdout: "304 manifests written to out/prod\n" });
    expect(await run(["render", "--target", "prod", "--into", "out/prod"])).toMatchObject({
      code: 3,
      stderr: "error: out/prod is not empty\n  → name a new folder with --into, or empty this one\n",
    });
    const plain = await sourceOf({}, server);
    const rendered = join(run.folder, "out/prod");
    const applied = await plain.runHere(["apply", "--source", rendered, "--yes", "--no-wait", "-o", "json"]);
    expect(applied).toMatchObject({ code: 0 });
    expect(reportOf(applied).summary).toMatchObject({ created: 304 });
    const planned = await run(["plan", "--target", "prod", "-o", "json"]);
    expect(planOf(planned)).toMatchObject({ complete: true, summary: { keep: 304 }, steps: [] });
  });

  test("writes nothing while a manifest is invalid", async () => {
    const { upstream, run } = await environments();
    await upstream.commit({ "patches/prod/api.yaml": patch.replace("3", "many") });
    const written = await run(["render", "--target", "prod", "--into", "out"]);
    expect(written).toMatchObject({ code: 3, stdout: "nothing was written\n" });
    expect(existsSync(join(run.folder, "out"))).toBe(false);
  });

  test("masks possible secrets, also those of patches, and says that the output is not what is applied", async () => {
    const { upstream, run } = await environments();
    await upstream.commit({ "patches/prod/api.yaml": patch.replace("MODE:", "API_TOKEN: hunter2secret, MODE:") });
    const rendered = await run(["render", "--target", "prod"]);
    expect(rendered.stdout + rendered.stderr).not.toContain("hunter2secret");
    expect(rendered.stderr).toContain("possible secrets are masked (1)");
  });
});

async function checkoutWith(patches: Files, targets = "[{ name: prod, patches: patches }]", plane = serve) {
  const server = await plane();
  const files: Files = { ...foundations, "api.yaml": service("api"), ...patches };
  const source = await sourceOf({ ...files, ".gitignore": ".holdfast/\n" }, server);
  const config = join(await temporaryFolder(), "operator.yaml");
  await writeFile(config, `targets: ${targets}\n`);
  const run = (...args: readonly string[]) =>
    source.runHere([...args, "--config", config, "--target", "prod"], guarded);
  await commitAll(source.folder, "Declare a platform");
  expect(await run("apply", "--yes", "--no-wait", "--allow-privilege")).toMatchObject({ code: 0 });
  await git(source.folder, "checkout", "-q", "-b", "change");
  return { server, source, run };
}

test.each<[string, Files, Files]>([
  [
    "no longer takes away what a manifest grants",
    { "platform/workspace.yaml": ADMIN, "patches/b.yaml": `${WEB}patch: { collaborators: null }\n` },
    { "patches/b.yaml": `${WEB}patch: { labels: { tier: a } }\n` },
  ],
  [
    "takes away what the same pull request grants in the manifest",
    { "patches/b.yaml": `${WEB}patch: { labels: { tier: a } }\n` },
    {
      "platform/workspace.yaml": ADMIN,
      "patches/b.yaml": `${WEB}patch: { labels: { tier: b }, collaborators: null }\n`,
    },
  ],
])("a pull request whose patch %s is refused by the guards", async (_, before, after) => {
  const { source, run } = await checkoutWith(before);
  for (const [file, text] of Object.entries(after)) await source.write(file, text);
  await commitAll(source.folder, "Change");
  const planned = planOf(await run("plan", "--base", "main", "-o", "json"));
  expect(planned.steps).toMatchObject([
    { identity: "workspace/dev:web", risks: ["privilege-growth"], guard: { flags: ["--allow-privilege"] } },
  ]);
  const [danger] = planned.steps[0]?.guard?.dangers ?? [];
  expect(danger?.text).toMatch(/^team:everyone gets workspace-admin( with the patches of the base)?$/);
});

test.each(controlPlaneVariants)(
  "a signed plan is refused after a changed patch, and nothing needs a record ($name)",
  async ({ serve: plane }) => {
    const scaled = (replicas: number) => `match: service/dev:web/api\npatch: { replicas: ${replicas} }\n`;
    const { server, source, run } = await checkoutWith({ "patches/a.yaml": scaled(2) }, undefined, () => plane());
    expect(planOf(await run("plan", "--state", "elsewhere", "-o", "json")).steps).toEqual([]);
    await source.write("patches/a.yaml", scaled(3));
    expect(await run("plan", "--out", "plan.json")).toMatchObject({ code: 0 });
    await source.write("patches/a.yaml", scaled(4));
    const before = server.effects().length;
    const refused = await run("apply", "--plan", "plan.json");
    expect(refused).toMatchObject({ code: 6 });
    expect(refused.stderr).toContain("/replicas was 3, and is 4");
    expect(server.effects()).toHaveLength(before);
    await source.write("patches/a.yaml", scaled(3));
    expect(await run("apply", "--plan", "plan.json", "--no-wait")).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before + 1);
  },
);

test("without a record, the history knows own content through rename and patches, and a removed manifest by its live name", async () => {
  const patches = { "patches/a.yaml": "match: service/prod:site/api\npatch: { replicas: 2 }\n" };
  const rename = "{ clusters: { dev: prod }, workspaces: { 'dev:web': 'prod:site' } }";
  const files = { ...patches, "old.yaml": service("old") };
  const { source, run } = await checkoutWith(files, `[{ name: prod, patches: patches, rename: ${rename} }]`);
  await source.write("api.yaml", service("api", "replicas: 1\nlabels: { tier: web }\n"));
  const workspace = `${foundations["platform/workspace.yaml"]}labels: { tier: web }\n`;
  await source.write("platform/workspace.yaml", workspace);
  await git(source.folder, "rm", "-q", "old.yaml");
  await commitAll(source.folder, "Change");
  const planned = planOf(await run("plan", "--state", "elsewhere", "-o", "json"));
  expect(planned.steps).toMatchObject([
    { identity: "workspace/prod:site", changes: [{ label: "labels.tier", cause: "manifest" }] },
    { identity: "service/prod:site/api", changes: [{ label: "labels.tier", cause: "manifest" }] },
    { identity: "service/prod:site/old", action: "orphan" },
  ]);
});

test("a daemon applies a commit that changes a patch file alone, to what the patch matches", async () => {
  const { server, upstream, operator, run } = await environments({ interval: 0.3, driftInterval: 3600 });
  const daemon = operator.start(["watch", "--target", "prod", "--sink", "file", "--no-wait"]);
  const isSyncedAt = async (commit: string) => {
    const [status] = JSON.parse((await run(["status", "--target", "prod", "-o", "json"])).stdout).targets ?? [];
    return status?.sync === "Synced" && status.appliedRevision === commit;
  };
  const first = await upstream.git("rev-parse", "HEAD");
  await eventually("the first commit is applied", () => isSyncedAt(first));
  const before = server.effects().length;
  const commit = await upstream.commit({ "patches/prod/api.yaml": patch.replace("3", "5") });
  await eventually("the changed patch is applied", () => isSyncedAt(commit));
  expect(server.effects().slice(before)).toMatchObject([{ resource: "service/prod:web/api" }]);
  const broken = await upstream.commit({ "patches/prod/api.yaml": patch.replace("3", "many") });
  await daemon.shows("stdout", /patches\/prod\/api\.yaml/);
  expect(await isSyncedAt(broken)).toBe(false);
  expect(server.effects()).toHaveLength(before + 1);
  daemon.kill("SIGTERM");
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

test.each<[string, string, Files]>([
  [
    "where it stands: in the manifest, or in the patch that sets it",
    "[{ name: prod, patches: patches }]",
    {
      "api.yaml": service("api").replace("1.0.0", "2.0.0"),
      "patches/a.yaml": `# How prod differs.\nmatch: service/dev:web/api\npatch: { replicas: 7 } # few\n`,
    },
  ],
  [
    "in the patch alone if another target reads the manifest too",
    "[{ name: prod, patches: patches }, { name: other, paths: [api.yaml], rename: { clusters: { dev: zzz } } }]",
    { "api.yaml": service("api") },
  ],
])("import --update writes what has drifted %s", async (_, targets, expected) => {
  const before = "# How prod differs.\nmatch: service/dev:web/api\npatch: { replicas: 3 } # few\n";
  const { server, source, run } = await checkoutWith({ "patches/a.yaml": before }, targets);
  const image = { type: "image", image_uri: "registry.example.com/api:2.0.0" };
  const manifest = {
    type: "service",
    name: "api",
    workspace_fqn: "dev:web",
    ports: [{ port: 8080 }],
    replicas: 7,
    image,
  };
  await server.call("PUT", "/api/svc/v1/apps", { manifest });
  const ended = await run("import", "--update", "service/dev:web/api", "-o", "json");
  expect(ended).toMatchObject({ code: 0 });
  const { resources } = JSON.parse(ended.stdout);
  expect(resources.map((one: { result: string }) => one.result)).toEqual(Object.keys(expected).map(() => "updated"));
  for (const [file, text] of Object.entries(expected))
    expect(await readFile(join(source.folder, file), "utf8")).toBe(text);
  const planned = planOf(await run("plan", "-o", "json"));
  expect(planned).toMatchObject({ summary: { update: 0, drift: 0 }, steps: [] });
});

test("with a base, patches count as of the base and as of the merge result", async () => {
  const scaled = (replicas: number) => patch.replaceAll("prod:", "dev:").replace("3", String(replicas));
  const { source, run } = await checkoutWith({ "patches/a.yaml": scaled(3) });
  await source.write("patches/a.yaml", scaled(5));
  await commitAll(source.folder, "Scale");
  const planned = await run("plan", "--base", "main", "-o", "json");
  const replicas = { path: "/replicas", before: 3, after: 5, cause: "manifest" };
  expect(planOf(planned).steps).toMatchObject([
    { identity: "service/dev:web/api", causedBy: "change", changes: [replicas] },
  ]);
  await git(source.folder, "checkout", "-q", "main");
  await source.write("patches/a.yaml", scaled(4));
  await commitAll(source.folder, "Scale otherwise");
  await git(source.folder, "checkout", "-q", "change");
  const conflicting = await run("plan", "--base", "main");
  expect(conflicting.code).toBe(3);
  expect(conflicting.stderr).toContain("this branch conflicts with main in 1 manifest file");
  await git(source.folder, "rm", "-q", "-r", "patches");
  await git(source.folder, "commit", "-q", "-m", "Remove");
  expect(await run("validate")).toMatchObject({ code: 3 });
});
