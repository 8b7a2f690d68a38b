import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { runHere } from "../support/run-here.ts";
import { plantWorkspace, service, workspace } from "./platform.ts";

const APPS = "/api/svc/v1/apps";
const PROMPTS = "/api/ml/v1/prompt-versions";
const MODELS = "/api/ml/v1/model-versions";

type Plane = Awaited<ReturnType<typeof startControlPlane>>;

/** Imports everything into a folder of its own, where a plan then finds nothing to do; returns the files. */
async function imported({ url, adminToken, data }: Plane): Promise<readonly string[]> {
  const cwd = await temporaryFolder();
  const env = { HOLDFAST_SERVER: url, HOLDFAST_TOKEN: adminToken.open() };
  const before = await effects(data);
  expect(await runHere(["import", "--into", "live"], { cwd, env })).toMatchObject({ code: 0, stderr: "" });
  const plan = await runHere(["plan"], { cwd, env });
  const files = globSync("live/**/*.yaml", { cwd }).toSorted();
  expect(plan).toMatchObject({ code: 0, stdout: `Plan: nothing to do, ${files.length} unchanged\n` });
  expect(await effects(data)).toEqual(before);
  return files.map((file) => `# ${file}\n${readFileSync(join(cwd, file), "utf8")}`);
}

test("a platform that another client has made, with fields in odd forms, makes a round trip", async () => {
  const plane = await startControlPlane({ unknownFields: "allow" });
  const { admin } = plane;
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } });
  const grants = [
    { subject: "user:zoe@example.com", role_id: "workspace-viewer" },
    { subject: "user:ann@example.com", role_id: "workspace-editor" },
    { subject: "user:zoe@example.com", role_id: "workspace-viewer" },
  ];
  const odd = [
    { env: { PORT: 8080, DEBUG: false, EMPTY: "", NO: "no", TIME: "12:30", LINES: "a\nb\n\n", TAB: "\t" }, labels: {} },
    {
      ports: [
        { port: 80, protocol: "TCP", expose: false },
        { port: 79, expose: false, host: null },
      ],
      mounts: [],
    },
    {
      replicas: 1,
      service_account: null,
      liveness_probe: { config: { type: "http", path: "/", port: 80 }, period_seconds: 10 },
    },
    { kustomize: { patch: { z: null, a: [1, "1", { b: [] }] }, additions: [] }, rollout_strategy: null },
    {
      image: { command: ["sh", "-c", "echo 'a: b' # c"], image_uri: "registry.example.com/a@sha256:00", type: "image" },
    },
  ];
  for (const [nth, fields] of odd.entries()) {
    expect((await admin.put(APPS, { manifest: { ...service, name: `odd-${nth}`, ...fields } })).status).toBe(200);
  }
  await admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators: grants, labels: null } });
  await admin.put("/api/svc/v1/teams", {
    manifest: {
      name: "ml",
      members: ["zoe@example.com", "ann@example.com", "zoe@example.com"],
      type: "team",
      managers: [],
    },
  });
  await admin.put("/api/svc/v1/teams", {
    manifest: { type: "sso-team", name: "sso", sso_name: "ml", group_name: "g" },
  });
  const permissions = [{ role_id: "cluster-viewer", resource_type: "cluster", resource_fqn: "c1x" }];
  await admin.put("/api/svc/v1/virtual-accounts", { manifest: { type: "virtual-account", name: "ci", permissions } });
  for (const content of ["Be kind.", 'Be: "quick"\n  and kind.\n', " "]) {
    const messages = [{ content, role: "system" }];
    await admin.put(PROMPTS, {
      manifest: { type: "chat_prompt", name: "hi", ml_repo: "support", messages, tools: [] },
    });
  }
  for (const run of ["r1", "r2"]) {
    await admin.put(MODELS, {
      manifest: { type: "model-version", name: "ranker", ml_repo: "support", run_id: run, metadata: {} },
    });
  }
  const files = await imported(plane);
  expect(files.length).toBe(odd.length + 8);
  expect(files.find((file) => file.includes("name: odd-2\n"))).not.toMatch(/replicas|service_account/);
  expect(files.find((file) => file.includes("run_id: r2\n"))).not.toContain("version:");
  await plane.close();

  const documented = await startControlPlane({ data: plane.data, documentedOnly: true, unknownFields: "allow" });
  expect((await imported(documented)).map((file) => /^# live\/(.*)\.yaml/.exec(file)?.[1])).toEqual([
    "c1x/cluster",
    "c1x/ws1/workspace",
    "chat_prompts/support/hi",
    "ml-repos/support",
    "model-versions/support/ranker",
  ]);
});
