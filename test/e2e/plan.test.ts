import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { planOf, reportOf } from "../support/json-output.ts";
import { everyKind, prompt, service, team } from "../support/manifests.ts";
import { emptySummary } from "../support/sample-plan.ts";
import { type Server, serve } from "../support/server.ts";
import { guarded, type Source, sourceOf } from "../support/source.ts";

/** A source of every kind that has been applied. */
async function applied(server: Server): Promise<Source> {
  const source = await sourceOf(everyKind, server);
  expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  return source;
}

describe.each(controlPlaneVariants)("plan on a $name control plane", (plane) => {
  const isFull = plane.name === "full";

  test("tells what apply would do in the order of references, the same bytes each time, and writes nothing", async () => {
    const server = await plane.serve();
    const before = server.effects();
    const source = await sourceOf(everyKind, server);
    const first = await source.runHere(["plan", "-o", "json", "--show", "unchanged"], guarded);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    const plan = planOf(first);
    expect(Object.keys(plan)).toEqual([
      "format_version",
      "revision",
      "server",
      "complete",
      "summary",
      "steps",
      "diagnostics",
      "checksum",
      ...(isFull ? ["access"] : []),
      "hardware",
      ...(isFull ? [] : ["notUsed"]),
    ]);
    expect(plan).toMatchObject({ format_version: "2.2", revision: null, server: server.url, complete: true });
    expect(plan.diagnostics).toEqual([]);
    expect(plan.checksum).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(plan.summary).toEqual(
      isFull
        ? { ...emptySummary, create: 8, notChecked: 8, refused: 2 }
        : { ...emptySummary, create: 3, ensure: 2, keep: 3, notChecked: 4, refused: 2 },
    );
    expect(plan.steps.map(({ identity, wave }) => [identity, wave])).toEqual([
      ["cluster/dev", 0],
      ["ml-repo/registry", 0],
      ["team/ml", 0],
      ["chat_prompt/registry/greeting", 1],
      ["model-version/registry/ranker", 1],
      ["workspace/dev:web", 1],
      ["service/dev:web/api", 2],
      ["virtual-account/ci", 2],
    ]);
    expect(plan.steps.at(-2)).toMatchObject({
      action: "create",
      kind: "service",
      identity: "service/dev:web/api",
      file: "services/api.yaml",
      line: 1,
      wave: 2,
      changes: [{ path: "", before: null, after: { name: "api", replicas: 2, type: "service" } }],
      patch: [],
      reason: null,
      risks: [],
      causedBy: "change",
      ...(isFull ? { notChecked: { reason: "depends-on", on: ["workspace/dev:web"] } } : {}),
    });
    const again = await source.runHere(["plan", "-o", "json", "--show", "unchanged"], guarded);
    expect(again.stdout).toBe(first.stdout);
    expect(server.effects()).toEqual(before);
  });

  test("shows an edited field with its cause, for people and as a patch", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    const before = server.effects();
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    const ended = await source.runHere(["plan", "-o", "json"]);
    expect(ended.code).toBe(0);
    expect(planOf(ended).summary).toEqual({ ...emptySummary, update: 1, keep: 7 });
    expect(planOf(ended).steps).toEqual([
      {
        action: "update",
        kind: "service",
        identity: "service/dev:web/api",
        file: "services/api.yaml",
        line: 1,
        wave: 2,
        changes: [
          {
            path: "/replicas",
            label: "replicas",
            before: 2,
            after: 3,
            cause: "manifest",
            diff: null,
            file: "services/api.yaml",
            line: 9,
          },
        ],
        patch: [{ op: "replace", path: "/replicas", value: 3 }],
        reason: null,
        risks: [],
        causedBy: "change",
      },
    ]);
    const text = await source.runHere(["plan", "--detailed-exitcode"]);
    expect(text.code).toBe(2);
    expect(text.stdout).toMatch(/^~ service\/api +services\/api.yaml:1\n {4}manifest {3}replicas {2}2 → 3$/m);
    expect(text.stdout).toMatch(/^Plan for http:.*: live → git\n/);
    expect(text.stdout).toMatch(
      /\nHardware in dev:web: \+1 replica\nPlan: 1 to update, 7 unchanged\nNext: holdfast apply --yes\n$/,
    );
    expect(server.effects()).toEqual(before);
  });

  test("has nothing to say of key order, defaults written out, null and empty lists", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write(
      "services/api.yaml",
      `replicas: 2
ports:
  - protocol: TCP
    port: 8080
image: { image_uri: registry.example.com/api:1.0.0, type: image }
env: null
mounts: []
workspace_fqn: dev:web
type: service
name: api
`,
    );
    await source.write("platform/workspace.yaml", "cluster_fqn: dev\nlabels: {}\nname: web\ntype: workspace\n");
    const ended = await source.runHere(["plan", "--detailed-exitcode"]);
    expect(ended).toMatchObject({ code: 0, stdout: "Plan: nothing to do, 8 unchanged\n" });
  });

  test("can be signed, and is applied exactly", async () => {
    const server = await plane.serve();
    const source = await applied(server);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await source.write("registry/new.yaml", prompt("farewell", "Be brief."));
    const before = server.effects().length;
    const planned = await source.runHere(["plan", "--out", "plan.json"]);
    expect(planned.code).toBe(0);
    const path = join(source.folder, "plan.json");
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(path, "utf8")).summary).toEqual({
      ...emptySummary,
      create: 1,
      update: 1,
      keep: 7,
      notChecked: 1,
    });
    const ended = await source.runHere(["apply", "--plan", "plan.json", "-o", "json"]);
    expect(ended.code).toBe(0);
    expect(reportOf(ended).summary).toMatchObject({ created: 1, updated: 1, unchanged: 7 });
    expect(server.effects()).toHaveLength(before + 2);
    // What is done already is recognised.
    const again = await source.runHere(["apply", "--plan", "plan.json"]);
    expect(again).toMatchObject({ code: 0 });
    expect(server.effects()).toHaveLength(before + 2);
    // It lies in the source, and is none of it.
    expect(await source.runHere(["validate", "--strict"])).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("a signed plan", () => {
  test("is stale when a manifest has changed since, and nothing is written", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
    await source.write("services/api.yaml", service("api", "replicas: 4\n"));
    const before = server.effects();
    const ended = await source.runHere(["apply", "--plan", "plan.json"]);
    expect(ended).toMatchObject({ code: 6, stdout: "" });
    expect(ended.stderr).toMatch(
      /services\/api\.yaml:1:1: error: source: service\/dev:web\/api: \/replicas was 3, and is 4/,
    );
    expect(ended.stderr).toMatch(
      /\nerror: the plan is stale: the source has changed since it was made\n {2}→ make it again with plan --out FILE/,
    );
    expect(server.effects()).toEqual(before);
  });

  test("is refused when somebody has edited what it shows, and nothing is written", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write("services/api.yaml", service("api", "replicas: 3\n"));
    await source.runHere(["plan", "--out", "plan.json"]);
    const path = join(source.folder, "plan.json");
    const plan = JSON.parse(await readFile(path, "utf8"));
    await writeFile(path, JSON.stringify({ ...plan, steps: [{ ...plan.steps[0], changes: [], patch: [] }] }));
    const before = server.effects();
    expect(await source.runHere(["apply", "--plan", "plan.json"])).toMatchObject({ code: 6, stdout: "" });
    expect(server.effects()).toEqual(before);
  });

  test("is stale when live has moved since, and nothing is written", async () => {
    const server = await serve();
    const source = await applied(server);
    await source.write("team.yaml", "type: team\nname: ml\nmembers: [grace@example.com]\n");
    expect(await source.runHere(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "ml", members: ["alan@example.com"] },
    });
    const before = server.effects();
    expect(await source.runHere(["apply", "--plan", "plan.json"])).toMatchObject({ code: 6 });
    expect(server.effects()).toEqual(before);
  });

  test("that cannot be written is no plan", async () => {
    const source = await sourceOf(everyKind, await serve());
    const ended = await source.runHere(["plan", "--out", "no/such/folder/plan.json"]);
    expect(ended).toMatchObject({ code: 3, stdout: "" });
    expect(ended.stderr).toMatch(/^error: the plan cannot be written to .*plan\.json \(ENOENT\)\n {2}→ /);
  });

  test("is refused when it is no plan, or not there", async () => {
    const source = await sourceOf(
      { ...everyKind, "holdfast.yaml": "ignore: []\n", "not-a-plan.json": "{}" },
      await serve(),
    );
    for (const file of ["not-a-plan.json", "missing.json"]) {
      const ended = await source.runHere(["apply", "--plan", file]);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("is no plan of this version");
      expect(ended.stderr).toContain("→ make one with plan --out FILE");
    }
  });
});

describe("plan", () => {
  test("blocks a change of an existing version", async () => {
    const server = await serve();
    const source = await sourceOf(
      { ...everyKind, "registry/prompt.yaml": `${prompt("greeting", "Be kind.")}version: 1\n` },
      server,
    );
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("registry/prompt.yaml", `${prompt("greeting", "Be rude.")}version: 1\n`);
    const before = server.effects();
    const ended = await source.runHere(["plan", "-o", "json", "--detailed-exitcode"]);
    expect(ended.code).toBe(2);
    expect(planOf(ended).steps).toMatchObject([{ action: "block", reason: "immutable" }]);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 7 });
    expect(server.effects()).toEqual(before);
  });

  test("masks values that could be secrets, in text, JSON and the signed file", async () => {
    const server = await serve();
    const env = (value: string) => service("api", `replicas: 2\nenv:\n  API_PASSWORD: ${value}\n`);
    const source = await sourceOf({ ...everyKind, "services/api.yaml": env("canary-one") }, server);
    expect(await source.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
    await source.write("services/api.yaml", env("canary-two"));
    const text = await source.runHere(["plan", "--out", "plan.json"]);
    const json = await source.runHere(["plan", "-o", "json"]);
    expect(text.stdout).toContain("manifest   env.API_PASSWORD  (sensitive) → (sensitive, changed)");
    const signed = await readFile(join(source.folder, "plan.json"), "utf8");
    for (const output of [text.stdout, text.stderr, json.stdout, json.stderr, signed]) {
      expect(output).not.toContain("canary");
    }
  });

  test("shows what is live and unmanaged when asked", async () => {
    const server = await serve();
    const source = await applied(server);
    await server.call("PUT", "/api/svc/v1/teams", {
      manifest: { type: "team", name: "strangers", members: ["eve@example.com"] },
    });
    expect((await source.runHere(["plan"])).stdout).toBe("Plan: nothing to do, 8 unchanged\n");
    const ended = await source.runHere(["plan", "--show", "unmanaged"]);
    expect(ended.stdout).toContain("  team/strangers\n");
    const json = await source.runHere(["plan", "--show", "unmanaged", "-o", "json"]);
    expect(planOf(json)).toMatchObject({ steps: [], unmanaged: [{ identity: "team/strangers", kind: "team" }] });
    expect(planOf(await source.runHere(["plan", "-o", "json"]))).not.toHaveProperty("unmanaged");

    // Every kind that the control plane can list, whatever is declared.
    const files = { "strangers.yaml": team("strangers", "eve@example.com") };
    const shown = planOf(await (await sourceOf(files, server)).runHere(["plan", "--show", "unmanaged", "-o", "json"]));
    expect(shown.unmanaged?.map(({ identity }) => identity)).toEqual([
      "chat_prompt/registry/greeting",
      "cluster/dev",
      "ml-repo/registry",
      "model-version/registry/ranker",
      "service/dev:web/api",
      "team/ml",
      "virtual-account/ci",
      "workspace/dev:web",
    ]);
    expect(shown.unmanagedNotListed).toBeUndefined();
    const bare = await serve(["--documented-only", "--seed", source.folder]);
    const few = await (await sourceOf(files, bare)).runHere(["plan", "--show", "unmanaged"]);
    expect(few.stdout).toContain("  workspace/dev:web\n");
    // The workspace names it.
    expect(few.stdout).toContain("  cluster/dev\n");
    expect(few.stdout.replaceAll(/\n +/g, " ")).toContain(
      "not read whole: team: this control plane has no list of them (/api/svc/v1/teams)",
    );
  });
});
