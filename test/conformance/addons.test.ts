import { expect, test } from "vitest";
import { catalogue } from "../../src/server/resources/addon/catalogue.ts";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";
import { cluster, plantWorkspace } from "./platform.ts";

const ADDONS = "/api/svc/v1/clusters/c1x/get-addons";
const keda = catalogue.find(({ name }) => name === "KEDA");
const [newest, older] = keda?.releases ?? [];

async function planted(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  await plantWorkspace(plane.admin);
  return plane;
}

const install = async (admin: Caller, version = older?.version, more: object = {}) =>
  (
    await admin.put("/api/svc/v1/apps", {
      manifest: {
        type: "helm",
        name: "keda",
        workspace_fqn: "c1x:ws1",
        source: { type: "helm-repo", repo_url: keda?.repoUrl, chart: keda?.chart, version },
        values: older?.values,
        ...more,
      },
    })
  ).body.data;

const addonOf = async (admin: Caller, name = "KEDA") =>
  (await admin.get(ADDONS)).body.data.find((addon: { name: string }) => addon.name === name);

test("the addons of a cluster are listed by name, in pages", async () => {
  const { admin } = await planted();
  const { data, pagination } = (await admin.get(ADDONS)).body;
  const names = data.map(({ name }: { name: string }) => name);
  expect(names).toEqual(catalogue.map(({ name }) => name));
  expect(pagination).toEqual({ total: catalogue.length, offset: 0, limit: 100 });
  expect((await admin.get(`${ADDONS}?limit=2&offset=1`)).body).toEqual({
    data: data.slice(1, 3),
    pagination: { total: catalogue.length, offset: 1, limit: 2 },
  });
});

test("an addon that is not installed says what it would be", async () => {
  const { admin } = await planted();
  expect(await addonOf(admin)).toEqual({
    name: "KEDA",
    appName: "keda",
    namespace: "keda",
    description: keda?.description,
    path: "addons/keda",
    addonFolder: "addons",
    version: newest?.version,
    installed: false,
    required: true,
    status: { healthStatus: "Missing", syncStatus: "Unknown", installed: false },
    manifest: expect.objectContaining({ type: "helm", name: "keda", values: newest?.values }),
    unsupportedClusterTypes: [],
    knownCRDs: keda?.knownCRDs,
    labels: keda?.labels,
    source: { repo_url: keda?.repoUrl, chart: "keda" },
    upgrades: {
      diff: [],
      desiredManifest: expect.objectContaining({ values: newest?.values }),
      upgradePossible: false,
      conflictFields: [],
      hasConflict: false,
    },
    recommendations: [],
  });
});

test("an installed addon is known by its application, and shows what an upgrade would change", async () => {
  const { admin } = await planted();
  const deployment = await install(admin);
  expect(await addonOf(admin)).toMatchObject({
    applicationId: deployment.applicationId,
    workspaceId: deployment.application.workspaceId,
    namespace: "ws1",
    version: older?.version,
    installationSource: "helm",
    installed: true,
    status: { healthStatus: "Healthy", syncStatus: "Synced", installed: true },
    manifest: deployment.manifest,
    upgrades: {
      upgradePossible: true,
      hasConflict: false,
      currentManifest: { workspace_fqn: "c1x:ws1", values: older?.values, source: { version: older?.version } },
      desiredManifest: { workspace_fqn: "c1x:ws1", values: newest?.values, source: { version: newest?.version } },
      diff: [
        {
          type: "CHANGE",
          key: "source",
          value: { chart: "keda", version: newest?.version },
          oldValue: { chart: "keda", version: older?.version },
          changes: [{ type: "CHANGE", key: "version", value: newest?.version, oldValue: older?.version, changes: [] }],
        },
        { type: "CHANGE", key: "values", changes: [{ key: "operator" }, { key: "resources" }] },
      ],
    },
  });
});

test("applying the desired manifest leaves nothing to upgrade", async () => {
  const { admin } = await planted();
  await install(admin, older?.version, { values: { ...older?.values, operator: { replicaCount: 5 }, own: [1] } });
  const { upgrades } = await addonOf(admin);
  expect(upgrades).toMatchObject({ hasConflict: true, conflictFields: ["/values/operator/replicaCount"] });
  expect(upgrades.desiredManifest.values).toMatchObject({ own: [1], operator: { replicaCount: 2 } });
  expect((await admin.put("/api/svc/v1/apps", { manifest: upgrades.desiredManifest })).status).toBe(200);
  expect(await addonOf(admin)).toMatchObject({
    version: newest?.version,
    upgrades: { diff: [], upgradePossible: false, hasConflict: false },
  });
});

test("its health is that of its newest deployment", async () => {
  const failures: RolloutFailure[] = ["deploy"];
  const rollouts = createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null });
  const { admin } = await planted({ rollouts });
  await install(admin);
  expect((await addonOf(admin)).status).toEqual({ healthStatus: "Degraded", syncStatus: "OutOfSync", installed: true });
  failures[0] = "stuck";
  await install(admin);
  expect((await addonOf(admin)).status).toMatchObject({ healthStatus: "Progressing", syncStatus: "OutOfSync" });
});

test("what a type of cluster does not support is not required there, and other clusters are no concern", async () => {
  const { admin } = await planted();
  await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, name: "c2x", cluster_type: "azure-aks" } });
  await install(admin);
  const { data } = (await admin.get("/api/svc/v1/clusters/c2x/get-addons")).body;
  const of = (name: string) => data.find((addon: { name: string }) => addon.name === name);
  expect(of("KEDA").installed).toBe(false);
  expect(of("METRICS_SERVER").required).toBe(false);
  expect((await addonOf(admin, "METRICS_SERVER")).required).toBe(true);
});

test("they take a right to see the cluster", async () => {
  const plane = await planted();
  const collaborators = [{ subject: "user:ann@example.com", role_id: "cluster-viewer" }];
  await plane.admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, collaborators } });
  const viewer = await addUser(plane, "ann@example.com");
  expect((await viewer.get(ADDONS)).status).toBe(200);
  const stranger = await addUser(plane, "eve@example.com");
  const absent = await plane.admin.get("/api/svc/v1/clusters/absent/get-addons");
  expect(absent.status).toBe(404);
  expect((await stranger.get(ADDONS)).body).toEqual(absent.body);
});

test("S46 among many applications the one of the addon's name is found, and one that is too large installs nothing", async () => {
  const { admin } = await planted();
  const filler = { filler: "x".repeat(1_100_000) };
  await install(admin, older?.version, { values: filler });
  expect((await addonOf(admin)).installed).toBe(false);
  for (let nth = 0; nth < 60; nth += 1) await install(admin, older?.version, { name: `copy-${nth}` });
  expect(await addonOf(admin)).toMatchObject({ installed: true, appName: "copy-0" });
  await install(admin);
  expect(await addonOf(admin)).toMatchObject({ installed: true, appName: "keda" });
});
