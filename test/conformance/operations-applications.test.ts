import { expect, test } from "vitest";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { type Caller, effects, startControlPlane } from "../control-plane.ts";
import { cluster, plantWorkspace, service, workspace } from "./platform.ts";

const apps = "/api/svc/v1/apps";
const built = {
  ...service,
  image: {
    type: "build",
    build_source: { type: "remote", remote_uri: "https://example.com/a.tgz" },
    build_spec: { type: "dockerfile", dockerfile_path: "Dockerfile", build_context_path: "." },
  },
};

async function planted(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  return { ...plane, workspace: await plantWorkspace(plane.admin) };
}

/** Rollouts that never get beyond their start. */
const stuck = createSimulatedRollouts({ seconds: 0, failures: () => "stuck" });

async function newest(admin: Caller, applicationId: string) {
  return (await admin.get(`${apps}/${applicationId}/deployments?limit=1`)).body.data[0];
}

/** Reads again until it has come to its end. */
async function settled(admin: Caller, applicationId: string) {
  return expect
    .poll(async () => (await newest(admin, applicationId)).currentStatus, { timeout: 60_000, interval: 20 })
    .toMatchObject({ state: { isTerminalState: true } });
}

test("every write is a new version, an identical one too", async () => {
  const { admin, data, workspace } = await planted();
  const first = (await admin.put(apps, { manifest: service })).body.data;
  expect(first).toMatchObject({
    id: expect.any(String),
    fqn: "c1x:ws1:api:1",
    version: 1,
    createdBy: "admin",
    manifest: { ...service, replicas: 1 },
    currentStatus: { status: "DEPLOY_SUCCESS", state: { isTerminalState: true } },
    application: {
      id: first.applicationId,
      fqn: "c1x:ws1:api",
      name: "api",
      type: "service",
      workspaceId: workspace.id,
      workspaceFqn: "c1x:ws1",
      activeDeploymentId: first.id,
      lastDeploymentId: first.id,
      activeVersion: 1,
      lastVersion: 1,
      metadata: { paused: false },
      lifecycleStage: "active",
    },
  });
  expect(first.application).not.toHaveProperty("deployment");
  expect(first.currentStatusId).toBe(first.deploymentStatuses.at(-1).id);
  const second = (await admin.put(apps, { manifest: first.manifest })).body.data;
  expect(second).toMatchObject({ applicationId: first.applicationId, version: 2, manifest: first.manifest });
  expect((await effects(data)).filter((effect) => effect.includes(" 16 "))).toEqual(
    Array(2).fill("user:admin 16 service/c1x:ws1/api"),
  );
});

test("deployments are listed newest first, and narrowed by version and id", async () => {
  const { admin } = await planted();
  const made = [];
  for (let n = 0; n < 3; n += 1) made.push((await admin.put(apps, { manifest: service })).body.data);
  const path = `${apps}/${made[0].applicationId}/deployments`;
  const listed = async (query: string) => {
    const { body } = await admin.get(`${path}?${query}`);
    return [...body.data.map(({ version }: { version: number }) => version), body.pagination.total];
  };
  expect((await admin.get(path)).body.data[0]).toEqual(made[2]);
  expect(await listed("")).toEqual([3, 2, 1, 3]);
  expect(await listed("limit=1&offset=1")).toEqual([2, 3]);
  expect(await listed("version=2")).toEqual([2, 1]);
  expect(await listed(`deploymentId=${made[0].id}`)).toEqual([1, 1]);
  expect(await listed(`deploymentId=${made[0].id}&version=2`)).toEqual([0]);
  for (const version of ["", "02", "2.0", "1e0", "x", "99999999999999999999"])
    expect(await listed(`version=${version}`)).toEqual([0]);
  expect(await admin.get(`${apps}/absent/deployments`)).toMatchObject({ status: 404, body: { code: "not-found" } });
});

test("applications are listed with their newest deployment, and filtered", async () => {
  const { admin } = await planted();
  await admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, name: "ws2" } });
  for (const [name, workspace_fqn] of [
    ["a", "c1x:ws1"],
    ["b", "c1x:ws2"],
    ["a", "c1x:ws1"],
  ]) {
    await admin.put(apps, { manifest: { ...service, name, workspace_fqn } });
  }
  await admin.put(apps, { manifest: { ...service, type: "job", name: "nightly" } });
  const listed = async (query: string) => {
    const { body } = await admin.get(`${apps}?${query}`);
    return [
      ...body.data.map((app: { fqn: string; deployment: { fqn: string } }) => app.deployment.fqn),
      body.pagination.total,
    ];
  };
  expect(await listed("")).toEqual(["c1x:ws1:nightly:1", "c1x:ws2:b:1", "c1x:ws1:a:2", 3]);
  expect(await listed("workspaceFqn=c1x:ws1")).toEqual(["c1x:ws1:nightly:1", "c1x:ws1:a:2", 2]);
  expect(await listed("fqn=c1x:ws2:b")).toEqual(["c1x:ws2:b:1", 1]);
  expect(await listed("applicationType=job&limit=1")).toEqual(["c1x:ws1:nightly:1", 1]);
  expect(await listed("fqn=c1x:ws2:%25")).toEqual([0]);
  const [app] = (await admin.get(`${apps}?fqn=c1x:ws1:a`)).body.data;
  expect(app).toMatchObject({ lastVersion: 2, lastDeploymentId: app.deployment.id });
  expect(app.deployment).not.toHaveProperty("application");
});

test("a dry run answers the version to come and the application that is, and writes nothing", async () => {
  const { admin, data } = await planted();
  const before = (await admin.put(apps, { manifest: service, dryRun: true })).body.data;
  expect(before).toMatchObject({ version: 1, fqn: "c1x:ws1:api:1", deploymentStatuses: [] });
  for (const name of ["id", "applicationId", "application", "currentStatus", "currentStatusId"])
    expect(before).not.toHaveProperty(name);
  expect((await admin.get(apps)).body.data).toEqual([]);
  const made = (await admin.put(apps, { manifest: service })).body.data;
  expect(before.manifest).toEqual(made.manifest);
  const after = (await admin.put(apps, { manifest: service, dryRun: true })).body.data;
  expect(after).toMatchObject({
    applicationId: made.applicationId,
    version: 2,
    application: made.application,
  });
  expect(after).not.toHaveProperty("id");
  expect((await admin.get(`${apps}/${made.applicationId}/deployments`)).body.pagination.total).toBe(1);
  expect((await effects(data)).filter((effect) => effect.includes(" 16 "))).toHaveLength(1);
});

test("while a deployment is in progress another is refused, unless it is forced; a dry run is not", async () => {
  const { admin, data } = await planted({ rollouts: stuck });
  const first = (await admin.put(apps, { manifest: service })).body.data;
  expect(first.currentStatus).toMatchObject({ status: "ROLLOUT_STARTED", state: { isTerminalState: false } });
  expect(first.application).toMatchObject({ lastVersion: 1 });
  expect(first.application).not.toHaveProperty("activeDeploymentId");
  expect(first.application).not.toHaveProperty("activeVersion");
  expect(await admin.put(apps, { manifest: service })).toMatchObject({
    status: 409,
    body: { code: "deployment-in-progress" },
  });
  expect((await admin.put(apps, { manifest: service, dryRun: true })).body.data.version).toBe(2);
  expect((await admin.put(apps, { manifest: service, forceDeploy: true })).body.data.version).toBe(2);
  const { body } = await admin.get(`${apps}/${first.applicationId}/deployments`);
  expect(body.data.map((one: { currentStatus: { status: string } }) => one.currentStatus.status)).toEqual([
    "ROLLOUT_STARTED",
    "CANCELLED",
  ]);
  expect(body.data[1].deploymentStatuses.map(({ status }: { status: string }) => status)).toEqual([
    "INITIALIZED",
    "ROLLOUT_STARTED",
    "CANCELLED",
  ]);
  expect((await effects(data)).filter((effect) => effect.includes(" 16 "))).toHaveLength(2);
});

test("forced though nothing is in progress, it is a write like any other", async () => {
  const { admin } = await planted();
  await admin.put(apps, { manifest: service });
  const { data } = (await admin.put(apps, { manifest: service, forceDeploy: true })).body;
  expect(data.version).toBe(2);
});

test("a rollout goes through its statuses in real time, and becomes active at its end", async () => {
  const { admin } = await planted({ rolloutSeconds: 0.3 });
  const { applicationId, currentStatus } = (await admin.put(apps, { manifest: built })).body.data;
  expect(currentStatus).toMatchObject({
    status: "INITIALIZED",
    transition: "BUILDING",
    state: { isTerminalState: false },
  });
  await settled(admin, applicationId);
  const done = await newest(admin, applicationId);
  expect(done.deploymentStatuses.map(({ status }: { status: string }) => status)).toEqual([
    "INITIALIZED",
    "BUILDING",
    "BUILD_SUCCESS",
    "ROLLOUT_STARTED",
    "DEPLOY_SUCCESS",
  ]);
  expect(done).toMatchObject({
    currentStatus: { status: "DEPLOY_SUCCESS", transition: "", deploymentId: done.id },
    deploymentBuilds: [{ name: expect.any(String), status: 1 }],
    application: { activeDeploymentId: done.id, activeVersion: 1 },
  });
});

test("a failed rollout leaves the one before it active, raises an alert, and is no obstacle", async () => {
  const failures: RolloutFailure[] = [];
  const rollouts = createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null });
  const { admin } = await planted({ rollouts });
  const good = (await admin.put(apps, { manifest: built })).body.data;
  failures.push("build");
  const bad = (await admin.put(apps, { manifest: built })).body.data;
  expect(bad).toMatchObject({
    currentStatus: { status: "BUILD_FAILED", state: { isTerminalState: true } },
    deploymentBuilds: [{ status: 2 }],
    application: {
      activeDeploymentId: good.id,
      activeVersion: 1,
      lastVersion: 2,
      alerts: [{ name: "BuildFailed" }],
    },
  });
  expect(bad.application.alerts[0]).not.toHaveProperty("resolvedTime");
  failures.pop();
  const mended = (await admin.put(apps, { manifest: built })).body.data;
  expect(mended.application).toMatchObject({ activeVersion: 3, alerts: [{ resolvedTime: expect.any(String) }] });
});

test("a failed rollout says what is known of it, and is a problem until the next success", async () => {
  const failures: RolloutFailure[] = ["deploy"];
  const rollouts = createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null });
  const { admin } = await planted({ rollouts });
  const names = ({ potentialProblems }: { potentialProblems: { name: string }[] }) =>
    potentialProblems.map(({ name }) => name);
  const bad = (await admin.put(apps, { manifest: service })).body.data;
  const [info] = bad.application.applicationDebugInfos;
  expect(info).toEqual({
    id: bad.application.alerts[0].applicationDebugInfoId,
    applicationId: bad.applicationId,
    application: expect.objectContaining({ fqn: "c1x:ws1:api" }),
    debugInfo: {
      deploymentId: bad.id,
      version: 1,
      status: "DEPLOY_FAILED",
      message: "simulated: the rollout failed",
      statuses: ["INITIALIZED", "ROLLOUT_STARTED", "DEPLOY_FAILED"].map((status) => ({ status, at: bad.createdAt })),
      image: service.image,
    },
    createdAt: bad.createdAt,
    updatedAt: bad.createdAt,
  });
  expect(names(bad.application)).toContain("rollout-failed");
  const again = (await admin.put(apps, { manifest: service })).body.data.application;
  expect(again.applicationDebugInfos).toHaveLength(2);
  expect(again.alerts).toMatchObject([{ applicationDebugInfoId: again.applicationDebugInfos[0].id }]);
  expect(again.alerts[0].timestamps).toHaveLength(2);
  failures.pop();
  expect(names((await admin.put(apps, { manifest: service })).body.data.application)).not.toContain("rollout-failed");
});

test("a version that takes a recommendation up says so", async () => {
  const { admin } = await planted();
  const put = async (cpu_request: number, more = {}) =>
    (await admin.put(apps, { manifest: { ...service, resources: { cpu_request, cpu_limit: 4 } }, ...more })).body.data;
  const first = await put(0.1);
  const [recommendation] = first.application.recommendations;
  expect(first.appliedRecommendations).toEqual([]);
  expect((await put(0.2)).appliedRecommendations).toEqual([]);
  const [planned] = (await put(1, { dryRun: true })).appliedRecommendations;
  expect(planned).not.toHaveProperty("appliedDeploymentId");
  const third = await put(1);
  expect(third.appliedRecommendations).toMatchObject([
    { recommendationType: recommendation.recommendationType, appliedDeploymentId: third.id, applicationVersion: 2 },
  ]);
  expect(third.application.recommendations).toEqual([]);
});

test("what a manifest gives to think about is said", async () => {
  const { admin } = await planted();
  const { application } = (
    await admin.put(apps, { manifest: { ...service, resources: { cpu_request: 0.1, cpu_limit: 4 } } })
  ).body.data;
  expect(application.potentialProblems.map(({ name }: { name: string }) => name)).toEqual([
    "no-liveness-probe",
    "no-readiness-probe",
    "one-replica",
  ]);
  expect(application.recommendations).toMatchObject([
    { recommendationType: "cpu-request", applicationVersion: 1, clusterId: "c1x" },
  ]);
});

test("workspaceId, name and applicationId stand in for the manifest, and must agree with it", async () => {
  const { admin, workspace } = await planted();
  const { name, workspace_fqn, ...rest } = service;
  const made = (await admin.put(apps, { manifest: rest, workspaceId: workspace.id, name: "api" })).body.data;
  expect(made.manifest).toMatchObject(service);
  const { applicationId } = made;
  expect(
    (await admin.put(apps, { manifest: service, workspaceId: workspace.id, name, applicationId })).body.data.version,
  ).toBe(2);
  const status = async (body: object) => (await admin.put(apps, { manifest: service, ...body })).status;
  expect(await status({ name: "other" })).toBe(400);
  expect(await status({ workspaceId: "absent" })).toBe(404);
  expect(await status({ applicationId: "absent" })).toBe(404);
  expect(await status({ applicationId, manifest: { ...service, name: "other" } })).toBe(400);
  await admin.put("/api/svc/v1/workspaces", { manifest: { type: "workspace", name: "ws2", cluster_fqn: "c1x" } });
  expect(await status({ workspaceId: workspace.id, manifest: { ...service, workspace_fqn: "c1x:ws2" } })).toBe(400);
  expect(await status({ workspaceId: workspace.id, manifest: { ...service, workspace_fqn: "c1x:absent" } })).toBe(400);
});

test("faults of meaning are named all at once: hosts, limits, references", async () => {
  const { admin } = await planted();
  const manifest = {
    ...service,
    ports: [
      { port: 80, expose: true, host: "api.apps.example.com" },
      { port: 81, expose: true, host: "api.example.com" },
      { port: 82, expose: true, host: "apps.example.com" },
      { port: 83, expose: false, host: "elsewhere.example.com" },
    ],
    resources: { cpu_request: 2, cpu_limit: 1 },
    env: { A: "secret://holdfast:g:k" },
    mounts: [{ type: "secret", mount_path: "/x", secret_fqn: "holdfast:g:k" }],
  };
  for (const dryRun of [true, false]) {
    const { status, body } = await admin.put(apps, { manifest, dryRun });
    expect(status).toBe(422);
    expect(body.details.map(({ pointer }: { pointer: string }) => pointer).toSorted()).toEqual([
      "/env/A",
      "/mounts/0/secret_fqn",
      "/ports/1/host",
      "/ports/2/host",
      "/resources/cpu_request",
    ]);
  }
});

test("a secret that exists can be referred to", async () => {
  const { admin } = await planted();
  await admin.post("/api/svc/v1/secret-groups", {
    name: "g",
    integrationId: "builtin",
    secrets: [{ key: "k", value: "CANARY-4" }],
  });
  const manifest = {
    ...service,
    env: { A: "x-secret://holdfast:g:k" },
    mounts: [{ type: "secret", mount_path: "/x", secret_fqn: "holdfast:g:k" }],
  };
  expect((await admin.put(apps, { manifest })).status).toBe(200);
});

test("other types are checked for what they share with services; types of other operations are refused", async () => {
  const { admin } = await planted();
  const put = async (manifest: object) => (await admin.put(apps, { manifest: { ...service, ...manifest } })).status;
  expect(await put({ type: "made-up", name: "j1", trigger: { type: "cron", schedule: "* * * * *" } })).toBe(200);
  expect(await put({ type: "made-up-tomorrow", name: "m1", whatever: 1 })).toBe(200);
  expect(await put({ type: "made-up", name: "J_!", trigger: {} })).toBe(422);
  expect(await put({ type: "job", name: "j2", workspace_fqn: undefined })).toBe(422);
  expect(await put({ type: "job", name: "j2", resources: { cpu_request: "1" } })).toBe(422);
  expect(await put({ type: "" })).toBe(422);
  for (const type of [
    "cluster",
    "workspace",
    "team",
    "sso-team",
    "virtual-account",
    "ml-repo",
    "model-version",
    "chat_prompt",
  ]) {
    expect(await put({ type })).toBe(422);
  }
});

test("a name belongs to one type", async () => {
  const { admin } = await planted();
  await admin.put(apps, { manifest: service });
  expect(await admin.put(apps, { manifest: { ...service, type: "job" } })).toMatchObject({
    status: 409,
    body: { code: "name-taken" },
  });
});

test("two writers at once make two versions, or one is told to wait", async () => {
  const { admin } = await planted();
  const replies = await Promise.all(Array.from({ length: 20 }, () => admin.put(apps, { manifest: service })));
  expect(replies.map(({ body }) => body.data.version).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 1),
  );
  const waiting = await planted({ rollouts: stuck });
  const statuses = await Promise.all(Array.from({ length: 20 }, () => waiting.admin.put(apps, { manifest: service })));
  expect(statuses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array(19).fill(409)]);
});

test("hosts are free where the cluster has no base domains", async () => {
  const { admin } = await planted();
  await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, base_domains: [] } });
  const manifest = { ...service, ports: [{ port: 80, expose: true, host: "anything.example.org" }] };
  expect((await admin.put(apps, { manifest })).status).toBe(200);
});
