import { expect, test } from "vitest";
import { addUser, type Caller, startControlPlane } from "../control-plane.ts";
import { cluster, service, workspace } from "./platform.ts";

/** Everybody with a role of the platform, by the resource that they have it on. */
const clusterRoles = ["cluster-admin", "cluster-member", "cluster-viewer"];
const workspaceRoles = ["workspace-admin", "workspace-editor", "workspace-member", "workspace-viewer"];
const everyone = [...clusterRoles, ...workspaceRoles, "custom", "nobody"];

const emailOf = (role: string) => `${role}@example.com`;

const collaborators = (roles: readonly string[]) =>
  roles.map((role) => ({ subject: `user:${emailOf(role)}`, role_id: role === "custom" ? "my-own-role" : role }));

const own = {
  cluster: { ...cluster, collaborators: collaborators(clusterRoles) },
  workspace: { ...workspace, collaborators: collaborators([...workspaceRoles, "custom"]) },
};

/** A cluster and a workspace that everybody has a role on, and another of each where nobody has. */
async function planted() {
  const plane = await startControlPlane();
  const { admin } = plane;
  await admin.put("/api/svc/v1/clusters", { manifest: own.cluster });
  await admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, name: "foreign" } });
  const { data: workspaceRow } = (await admin.put("/api/svc/v1/workspaces", { manifest: own.workspace })).body;
  const { data: foreign } = (
    await admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, cluster_fqn: "foreign" } })
  ).body;
  const app = (await admin.put("/api/svc/v1/apps", { manifest: service })).body.data;
  const foreignApp = (await admin.put("/api/svc/v1/apps", { manifest: { ...service, workspace_fqn: "foreign:ws1" } }))
    .body.data;
  const callers = await Promise.all(everyone.map(async (role) => [role, await addUser(plane, emailOf(role))] as const));
  return { admin, callers, workspaceRow, foreign, app, foreignApp };
}

type Planted = Awaited<ReturnType<typeof planted>>;
type Attempt = readonly [
  what: string,
  call: (caller: Caller, planted: Planted) => Promise<{ status: number }>,
  allowed: readonly string[],
  else_: number,
];

const put =
  (path: string, manifest: object, more: object = {}) =>
  (caller: Caller) =>
    caller.put(`/api/svc/v1/${path}`, { manifest, ...more });

const mayEdit = ["cluster-admin", "workspace-admin", "workspace-editor", "workspace-member"];
const sees = ["cluster-member", "workspace-viewer"];
const changed = { ...own.workspace, labels: { a: "1" } };

const attempts: readonly Attempt[] = [
  ["read the cluster", (caller) => caller.get("/api/svc/v1/clusters/c1x"), clusterRoles, 404],
  ["read a foreign cluster", (caller) => caller.get("/api/svc/v1/clusters/foreign"), [], 404],
  ["read an absent cluster", (caller) => caller.get("/api/svc/v1/clusters/absent"), [], 404],
  [
    "write the cluster",
    put("clusters", { ...own.cluster, base_domains: ["x.example.com"] }, { dryRun: true }),
    ["cluster-admin"],
    403,
  ],
  ["write the cluster as it is", put("clusters", own.cluster), ["cluster-admin"], 403],
  ["write a foreign cluster", put("clusters", { ...cluster, name: "foreign" }), [], 403],
  ["make a cluster", put("clusters", { ...cluster, name: "new" }), [], 403],
  ["write the workspace", put("workspaces", changed, { dryRun: true }), ["cluster-admin", "workspace-admin"], 403],
  ["write a foreign workspace", put("workspaces", { ...workspace, cluster_fqn: "foreign" }), [], 403],
  ["make a workspace", put("workspaces", { ...workspace, name: "new" }), [], 403],
  ["make a workspace on an absent cluster", put("workspaces", { ...workspace, cluster_fqn: "absent" }), [], 403],
  ["deploy", put("apps", service), mayEdit, 403],
  ["dry-run a deployment", put("apps", service, { dryRun: true }), mayEdit, 403],
  ["deploy to a foreign workspace", put("apps", { ...service, workspace_fqn: "foreign:ws1" }), [], 422],
  ["deploy to an absent workspace", put("apps", { ...service, workspace_fqn: "c1x:absent" }), [], 422],
  [
    "deploy by a foreign workspace id",
    (caller, { foreign }) =>
      put("apps", { ...service, workspace_fqn: "foreign:ws1" }, { workspaceId: foreign.id })(caller),
    [],
    404,
  ],
  [
    "deploy by a foreign application id",
    (caller, { foreignApp }) => put("apps", service, { applicationId: foreignApp.applicationId })(caller),
    [],
    404,
  ],
  [
    "list deployments",
    (caller, { app }) => caller.get(`/api/svc/v1/apps/${app.applicationId}/deployments`),
    [...mayEdit, ...sees],
    404,
  ],
  [
    "list foreign deployments",
    (caller, { foreignApp }) => caller.get(`/api/svc/v1/apps/${foreignApp.applicationId}/deployments`),
    [],
    404,
  ],
];

// What cannot be seen is absent: a role that does not even show the workspace gets the absent answer.
function expected(role: string, [what, , allowed, otherwise]: Attempt): number {
  if (allowed.includes(role)) return what.includes("foreign application id") ? 404 : 200;
  if (["deploy", "dry-run a deployment"].includes(what) && !sees.includes(role)) return 422;
  // These may write the workspace, and are told that the id is not theirs; for others it is not there either.
  if (what === "deploy by a foreign application id")
    return mayEdit.includes(role) ? 404 : sees.includes(role) ? 403 : 404;
  return otherwise;
}

test("every role may do what its row says, and nothing else", async () => {
  const world = await planted();
  for (const attempt of attempts) {
    const [what, call] = attempt;
    for (const [role, caller] of world.callers) {
      const { status } = await call(caller, world);
      expect(`${role}: ${what}: ${status}`).toBe(`${role}: ${what}: ${expected(role, attempt)}`);
    }
    // The administrator may do all of it; only what is absent is absent.
    const { status } = await call(world.admin, world);
    expect([what, what.includes("absent") ? status >= 400 : status < 403]).toEqual([what, true]);
  }
});

test("lists show what can be seen, with its true total", async () => {
  const { callers } = await planted();
  for (const [role, caller] of callers) {
    const seesCluster = clusterRoles.includes(role) ? 1 : 0;
    const seesWorkspace = [...mayEdit, ...sees].includes(role) ? 1 : 0;
    const totals = await Promise.all(
      ["clusters", "workspaces", "apps"].map(async (list) => {
        const { body } = await caller.get(`/api/svc/v1/${list}`);
        expect(body.data).toHaveLength(body.pagination.total);
        return body.pagination.total;
      }),
    );
    expect([role, ...totals]).toEqual([role, seesCluster, seesWorkspace, seesWorkspace]);
  }
});

test("absent and invisible give one and the same answer", async () => {
  const { callers, foreignApp, foreign } = await planted();
  const editor = new Map(callers).get("workspace-editor");
  if (editor === undefined) throw new Error("no editor");
  const pairs: readonly (readonly [string, string])[] = [
    ["/api/svc/v1/clusters/foreign", "/api/svc/v1/clusters/absent"],
    [`/api/svc/v1/apps/${foreignApp.applicationId}/deployments`, "/api/svc/v1/apps/absent/deployments"],
    [`/api/svc/v1/workspaces?fqn=${foreign.fqn}`, "/api/svc/v1/workspaces?fqn=absent:ws1"],
  ];
  for (const [invisible, absent] of pairs)
    expect((await editor.get(invisible)).text).toBe((await editor.get(absent)).text);
  const deploy = async (workspace_fqn: string) =>
    (await editor.put("/api/svc/v1/apps", { manifest: { ...service, workspace_fqn } })).text;
  expect((await deploy("foreign:ws1")).replaceAll("foreign", "absent")).toBe(await deploy("absent:ws1"));
});

test("nobody grants what it does not hold, and what was granted before may stay", async () => {
  const { callers, admin } = await planted();
  const caller = (role: string) => new Map(callers).get(role) ?? admin;
  const grant = async (role: string, subject: string, role_id: string) => {
    const manifest = { ...own.workspace, collaborators: [...own.workspace.collaborators, { subject, role_id }] };
    return (await caller(role).put("/api/svc/v1/workspaces", { manifest, dryRun: true })).status;
  };
  // `custom` was given by the administrator, and does not stand in the way.
  expect(await grant("workspace-admin", "user:new@example.com", "workspace-viewer")).toBe(200);
  expect(await grant("workspace-admin", "user:new@example.com", "workspace-admin")).toBe(200);
  expect(await grant("workspace-admin", "user:new@example.com", "my-own-role")).toBe(403);
  expect(await grant("workspace-admin", `user:${emailOf("workspace-admin")}`, "cluster-admin")).toBe(403);
  expect(await grant("admin", "user:new@example.com", "my-own-role")).toBe(200);
  expect(await grant("workspace-editor", `user:${emailOf("workspace-editor")}`, "workspace-admin")).toBe(403);
  const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
  expect(
    (await caller("workspace-admin").put("/api/svc/v1/workspaces", { manifest: { ...own.workspace, permissions } }))
      .status,
  ).toBe(403);
});

test("a role that is taken back is gone with the next request", async () => {
  const { callers, admin } = await planted();
  const viewer = new Map(callers).get("workspace-viewer");
  expect((await viewer?.get("/api/svc/v1/workspaces"))?.body.pagination.total).toBe(1);
  await admin.put("/api/svc/v1/workspaces", { manifest: workspace });
  expect((await viewer?.get("/api/svc/v1/workspaces"))?.body.pagination.total).toBe(0);
});

test("everyone's roles are everyone's, and a team's are its members' and managers'", async () => {
  const plane = await startControlPlane();
  const { admin } = plane;
  await admin.put("/api/svc/v1/teams", {
    manifest: { type: "team", name: "ops", managers: ["lead@example.com"], members: ["dev@example.com"] },
  });
  await admin.put("/api/svc/v1/clusters", {
    manifest: {
      ...cluster,
      collaborators: [
        { subject: "team:everyone", role_id: "cluster-viewer" },
        { subject: "team:ops", role_id: "cluster-admin" },
      ],
    },
  });
  const write = put("clusters", { ...cluster, base_domains: [] }, { dryRun: true });
  for (const [slug, status] of [
    ["lead@example.com", 200],
    ["dev@example.com", 200],
    ["other@example.com", 403],
  ] as const) {
    const user = await addUser(plane, slug);
    expect((await user.get("/api/svc/v1/clusters/c1x")).status).toBe(200);
    expect((await write(user)).status).toBe(status);
  }
});
