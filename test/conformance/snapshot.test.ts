import { expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { takeSnapshot } from "../../src/commands/snapshots/take-snapshot.ts";
import type { JsonObject } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { addUser, type Caller, caller, effects, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service, workspace } from "./platform.ts";

const VALUE = "canary-77aa-value";
const ROOTS = {
  groups: "/api/svc/v1/secret-groups",
  apps: "/api/svc/v1/apps",
  repos: "/api/svc/v1/ml-repos",
  models: "/api/ml/v1/model-versions",
  prompts: "/api/ml/v1/prompt-versions",
};

const failures: (RolloutFailure | null)[] = [];

/** A control plane with something of every kind. */
async function live(options: Parameters<typeof startControlPlane>[0] = {}) {
  const rollouts = createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null });
  const plane = await startControlPlane({ rollouts, ...options });
  const { admin } = plane;
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/teams", { manifest: { type: "team", name: "ml", members: ["ann@example.com"] } });
  const collaborators = [{ subject: "team:ml", role_id: "workspace-editor" }];
  await admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators } });
  const permissions = [{ resource_type: "workspace", resource_fqn: "c1x:ws1", role_id: "workspace-viewer" }];
  await admin.put("/api/svc/v1/virtual-accounts", { manifest: { type: "virtual-account", name: "ci", permissions } });
  await admin.put(ROOTS.repos, { manifest: { type: "ml-repo", name: "support" } });
  const model = { type: "model-version", name: "ranker", ml_repo: "support" };
  for (const step of [1, 2]) {
    await admin.put(ROOTS.models, { manifest: { ...model, run_id: `r${step}`, step, version_alias: `v${step}` } });
  }
  const messages = [{ role: "system", content: "Be kind." }];
  await admin.put(ROOTS.prompts, { manifest: { type: "chat_prompt", name: "triage", ml_repo: "support", messages } });
  const secrets = [{ key: "password", value: VALUE }];
  await admin.post(ROOTS.groups, { name: "db", integrationId: "builtin", secrets });
  const env = { PASSWORD: "secret://holdfast:db:password" };
  for (const replicas of [1, 2, 3]) await admin.put(ROOTS.apps, { manifest: { ...service, env, replicas } });
  failures.push("deploy");
  await admin.put(ROOTS.apps, { manifest: { ...service, env, replicas: 4 } });
  failures.pop();
  return plane;
}

/** What a reader sees. */
async function sightOf(url: string, token: Secret, named: readonly JsonObject[] = []) {
  const { signal } = new AbortController();
  await using connection = connect({
    server: url,
    clock: systemClock,
    random: systemRandom,
    token: () => token,
    concurrency: 4,
    requestTimeout: 60_000,
    connectTimeout: 60_000,
    env: {},
    userAgent: "test",
    signal,
  });
  return await takeSnapshot(connection.reader, named, { signal });
}

const rows = async (admin: Caller, path: string) => (await admin.get(path)).body.data;

test("a snapshot is a copy that a plan can be tried on, and takes nothing but reads", async () => {
  const first = await live();
  const before = await effects(first.data);
  const { snapshot, unseen } = await sightOf(first.url, first.adminToken);
  expect(unseen).toEqual([]);
  expect(JSON.stringify(snapshot)).not.toContain(VALUE);
  expect(await effects(first.data)).toEqual(before);

  const second = await startControlPlane({ snapshot });
  // Its digests count the same.
  const counts = async ({ admin }: { readonly admin: Caller }) => {
    const { count, children } = (await admin.get("/api/svc/v1/digests")).body.data;
    return [count, ...children.map((child: { prefix: string; count: number }) => [child.prefix, child.count])];
  };
  expect(await counts(second)).toEqual(await counts(first));
  for (const path of [
    "/api/svc/v1/workspaces",
    "/api/svc/v1/clusters",
    "/api/svc/v1/teams",
    "/api/ml/v1/ml-repos",
    ROOTS.models,
    ROOTS.prompts,
  ]) {
    expect([path, await rows(second.admin, path)]).toEqual([path, await rows(first.admin, path)]);
  }
  const [app] = await rows(second.admin, ROOTS.apps);
  const [origin] = await rows(first.admin, ROOTS.apps);
  const { recommendations, alerts, applicationDebugInfos, ...same } = origin;
  expect(app).toMatchObject(same);
  expect(app).toMatchObject({ lastVersion: 4, activeVersion: 3, activeDeploymentId: origin.activeDeploymentId });
  const deployments = await rows(second.admin, `${ROOTS.apps}/${app.id}/deployments`);
  expect(deployments.map(({ version }: { version: number }) => version)).toEqual([4, 3]);
  expect((await second.admin.put(ROOTS.apps, { manifest: origin.deployment.manifest })).body.data.version).toBe(5);
  const next = { type: "model-version", name: "ranker", ml_repo: "support", run_id: "r3" };
  expect((await second.admin.put(ROOTS.models, { manifest: next })).body.data.manifest.version).toBe(3);
});

test("an account that is disabled is disabled in the copy", async () => {
  const first = await live();
  await first.admin.post("/api/svc/v1/subjects/disable", { subject: "virtualaccount:ci" });
  const { snapshot } = await sightOf(first.url, first.adminToken);
  const second = await startControlPlane({ snapshot });
  const [origin] = await rows(first.admin, "/api/svc/v1/virtual-accounts");
  const [account] = await rows(second.admin, "/api/svc/v1/virtual-accounts");
  expect(account.metadata).toEqual({ disabled: origin.metadata.disabled });
  const written = await second.admin.put("/api/svc/v1/virtual-accounts", { manifest: origin.manifest });
  expect(written).toMatchObject({ status: 409, body: { code: "disabled" } });
});

test("secrets are placeholders, accounts have no token, and roles are the same", async () => {
  const first = await live();
  const { snapshot } = await sightOf(first.url, first.adminToken);
  const second = await startControlPlane({ snapshot });
  const [group] = await rows(second.admin, ROOTS.groups);
  const [{ id, fqn, activeDeploymentsCount }] = group.associatedSecrets;
  expect([fqn, activeDeploymentsCount]).toEqual(["holdfast:db:password", 1]);
  expect((await rows(second.admin, `/api/svc/v1/secrets/${id}`)).value).toMatch(/^placeholder/);
  const [account] = await rows(second.admin, "/api/svc/v1/virtual-accounts");
  expect(account).toMatchObject({ name: "ci", jwts: [], manifest: { permissions: [{}] } });
  expect(account).not.toHaveProperty("jwtId");
  const ann = await addUser(second, "ann@example.com");
  expect((await ann.get("/api/svc/v1/workspaces")).body.pagination.total).toBe(1);
});

test("taken again, it adds what is new, and leaves alone what is there", async () => {
  const first = await live();
  const second = await startControlPlane({ snapshot: (await sightOf(first.url, first.adminToken)).snapshot });
  await second.admin.put(ROOTS.apps, { manifest: { ...service, replicas: 9 } });
  const written = await effects(second.data);
  expect(written.filter((effect) => effect.startsWith("snapshot "))).toHaveLength(written.length - 1);
  await second.close();
  await first.admin.put(ROOTS.apps, { manifest: { ...service, name: "web" } });
  await first.admin.put(ROOTS.apps, { manifest: service });
  const { snapshot } = await sightOf(first.url, first.adminToken);
  const third = await startControlPlane({ data: second.data, snapshot });
  expect((await effects(third.data)).slice(written.length)).toEqual(["snapshot 16 service/c1x:ws1/web"]);
  const apps = await rows(third.admin, `${ROOTS.apps}?fqn=c1x:ws1:api`);
  expect(apps).toMatchObject([{ lastVersion: 5, deployment: { manifest: { replicas: 9 } } }]);
});

test("of a control plane with the documented operations alone, it says what cannot be seen", async () => {
  const full = await live();
  await full.close();
  const first = await startControlPlane({ data: full.data, documentedOnly: true });
  const named = [
    { type: "cluster", name: "c1x" },
    { type: "cluster", name: "absent" },
    { type: "team", name: "ml" },
    service,
    { type: "something", name: "else" },
  ];
  const { snapshot, unseen } = await sightOf(first.url, first.adminToken, named);
  expect(unseen).toEqual([
    "applications: this control plane has no list of them (/api/svc/v1/apps)",
    "teams: this control plane has no list of them (/api/svc/v1/teams)",
    "virtual accounts: this control plane has no list of them (/api/svc/v1/virtual-accounts)",
    "secrets that no manifest names: this control plane has no list of them (/api/svc/v1/secret-groups)",
    "what the token may not see: this control plane does not tell its roles",
    "cluster/absent: named, and found by no read",
    "team/ml: named, and found by no read",
    "service/api: named, and found by no read",
  ]);
  const second = await startControlPlane({ snapshot });
  expect((await rows(second.admin, "/api/svc/v1/clusters")).map(({ id }: { id: string }) => id)).toEqual(["c1x"]);
  expect(await rows(second.admin, "/api/svc/v1/workspaces")).toHaveLength(1);
  expect(await rows(second.admin, ROOTS.prompts)).toHaveLength(1);
});

test("a token that may see little gives a small snapshot, and one that is none a failure", async () => {
  const first = await live();
  const collaborators = [{ subject: "user:eve@example.com", role_id: "workspace-viewer" }];
  await first.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators } });
  await addUser(first, "eve@example.com");
  const eve = new Secret("token-of-eve-at-example.com");
  const { snapshot } = await sightOf(first.url, eve);
  expect(snapshot.workspaces).toHaveLength(1);
  expect([snapshot.clusters, snapshot.mlRepos, snapshot.secretGroups]).toEqual([[], [], []]);
  const second = await startControlPlane({ snapshot });
  // Its cluster was not seen, and the references to secrets are all that is known of them.
  expect(await rows(second.admin, "/api/svc/v1/workspaces")).toHaveLength(1);
  expect(await rows(second.admin, ROOTS.groups)).toMatchObject([{ name: "db" }]);
  const nobody = new Secret("nobody-knows-this-token");
  await expect(sightOf(first.url, nobody)).rejects.toMatchObject({ code: "unauthorized" });
  expect((await caller(first.url, eve).get("/api/svc/v1/clusters")).body.pagination.total).toBe(0);
});

test("rows of any form are taken as far as they go, and never stop the others", async () => {
  const odd: JsonObject[] = [
    {},
    { id: 1, manifest: "x" },
    { id: "w", manifest: { type: "workspace" } },
    { manifest: { type: "workspace", name: "a b", cluster_fqn: "elsewhere" }, createdAt: "yesterday" },
  ];
  const applications = [
    { application: { workspaceFqn: "elsewhere:a b", name: "x", type: "service" }, deployments: [{ version: 0 }] },
    {
      application: { workspaceFqn: "elsewhere:a b", name: "y", type: "service", metadata: null },
      deployments: [{ version: 7, manifest: { env: { A: "secret://acme:g:k" } }, currentStatus: { status: "PAUSED" } }],
    },
    { application: { workspaceFqn: "none:none", name: "z", type: "job" }, deployments: [] },
  ];
  const snapshot = {
    clusters: odd,
    workspaces: odd,
    teams: odd,
    virtualAccounts: odd,
    mlRepos: [...odd, { manifest: { type: "ml-repo", name: "r1" } }],
    modelVersions: [
      ...odd,
      { fqn: "model:acme/r1/m:4", manifest: { name: "m", ml_repo: "r1" }, metrics: [{}, 1], tags: [1] },
    ],
    promptVersions: odd,
    secretGroups: [{ associatedSecrets: [{ fqn: "not an fqn" }, { name: "k" }, null] }],
    applications,
  };
  const { admin } = await startControlPlane({ snapshot });
  expect(await rows(admin, "/api/svc/v1/workspaces")).toMatchObject([{ fqn: "elsewhere:a b" }]);
  expect(await rows(admin, ROOTS.models)).toMatchObject([{ manifest: { version: 4 }, metrics: [], tags: [] }]);
  expect(await rows(admin, ROOTS.apps)).toMatchObject([
    {
      fqn: "elsewhere:a b:y",
      lastVersion: 7,
      deployment: { currentStatus: { status: "PAUSED" } },
    },
  ]);
  expect(await rows(admin, ROOTS.groups)).toMatchObject([{ fqn: "acme:g", associatedSecrets: [{ fqn: "acme:g:k" }] }]);
});
