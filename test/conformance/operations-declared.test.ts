import { expect, test } from "vitest";
import { effects, startControlPlane } from "../control-plane.ts";
import { cluster, workspace } from "./platform.ts";

const clusters = "/api/svc/v1/clusters";
const workspaces = "/api/svc/v1/workspaces";

test("a cluster is made, read by its name, and found in the list", async () => {
  const { admin } = await startControlPlane();
  const { status, body } = await admin.put(clusters, { manifest: cluster });
  expect(status).toBe(200);
  expect(body.data).toMatchObject({
    id: "c1x",
    fqn: "c1x",
    name: "c1x",
    tenantName: "holdfast",
    accountId: expect.any(String),
    createdBy: "admin",
    createdBySubject: { subjectType: "user", subjectSlug: "admin" },
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    updatedAt: body.data.createdAt,
    manifest: cluster,
  });
  expect((await admin.get(`${clusters}/c1x`)).body).toEqual(body);
  expect((await admin.get(clusters)).body).toEqual({
    data: [body.data],
    pagination: { total: 1, offset: 0, limit: 100 },
  });
});

test("an identical write changes nothing and is no effect, in whatever order its sets are", async () => {
  const { admin, data } = await startControlPlane();
  const manifest = { ...cluster, base_domains: ["a.example.com", "b.example.com"], environment_names: null };
  const first = await admin.put(clusters, { manifest });
  const { environment_names, ...bare } = manifest;
  for (const same of [manifest, bare, { ...manifest, base_domains: ["b.example.com", "a.example.com"] }]) {
    expect((await admin.put(clusters, { manifest: same })).body).toEqual(first.body);
  }
  expect((await admin.put(clusters, first.body.data)).status).toBe(400);
  expect((await admin.put(clusters, { manifest: first.body.data.manifest })).body).toEqual(first.body);
  expect(await effects(data)).toEqual(["user:admin 17 cluster/c1x"]);
});

test("a write replaces: what it leaves out is gone", async () => {
  const { admin, data } = await startControlPlane();
  const before = (await admin.put(workspaces, { manifest: workspace })).status;
  expect(before).toBe(422);
  await admin.put(clusters, { manifest: cluster });
  const made = (await admin.put(workspaces, { manifest: { ...workspace, labels: { a: "1" }, annotations: {} } })).body
    .data;
  const changed = (await admin.put(workspaces, { manifest: { ...workspace, annotations: { b: "2" } } })).body.data;
  expect(changed).toMatchObject({ id: made.id, createdAt: made.createdAt, manifest: { annotations: { b: "2" } } });
  expect(changed.manifest).not.toHaveProperty("labels");
  expect(changed.updatedAt >= made.updatedAt).toBe(true);
  expect(await effects(data)).toEqual([
    "user:admin 17 cluster/c1x",
    "user:admin E1 workspace/c1x:ws1",
    "user:admin E1 workspace/c1x:ws1",
  ]);
});

test("a dry run answers what the write would, without an id for what is new, and writes nothing", async () => {
  const { admin, data } = await startControlPlane();
  await admin.put(clusters, { manifest: cluster });
  const tried = await admin.put(workspaces, { manifest: workspace, dryRun: true });
  expect(tried.body.data).toMatchObject({ fqn: "c1x:ws1" });
  expect(tried.body.data).not.toHaveProperty("id");
  expect((await admin.get(workspaces)).body.data).toEqual([]);
  const { id, createdAt, updatedAt, ...written } = (await admin.put(workspaces, { manifest: workspace })).body.data;
  expect(tried.body.data).toMatchObject(written);

  const labelled = { ...workspace, labels: { a: "1" } };
  const again = await admin.put(workspaces, { manifest: labelled, dryRun: true });
  expect(again.body.data).toMatchObject({ id, createdAt, manifest: labelled });
  const same = await admin.put(workspaces, { manifest: workspace, dryRun: true });
  expect(same.body.data).toEqual({ id, createdAt, updatedAt, ...written });
  expect((await admin.get(workspaces)).body.data).toEqual([same.body.data]);
  expect(await effects(data)).toHaveLength(2);
  expect((await admin.put(workspaces, { manifest: workspace, dryRun: false })).body.data.id).toBe(id);
});

test.each([true, false])("dangling references are named, all at once (dryRun %s)", async (dryRun) => {
  const { admin } = await startControlPlane();
  const manifest = {
    ...workspace,
    collaborators: [
      { subject: "team:everyone", role_id: "workspace-viewer" },
      { subject: "user:anyone@example.com", role_id: "workspace-viewer" },
      { subject: "team:ghosts", role_id: "workspace-viewer" },
      { subject: "virtualaccount:ghost", role_id: "workspace-viewer" },
    ],
    permissions: [{ resource_type: "ml-repo", resource_fqn: "ml-repo:holdfast/ghosts", role_id: "ml-repo-viewer" }],
  };
  const reply = await admin.put(workspaces, { manifest, dryRun });
  expect(reply.status).toBe(422);
  expect(reply.body.details.map(({ pointer, code }: Record<string, string>) => `${pointer} ${code}`)).toEqual([
    "/cluster_fqn dangling-reference",
    "/collaborators/2/subject dangling-reference",
    "/collaborators/3/subject dangling-reference",
    "/permissions/0/resource_fqn dangling-reference",
  ]);
});

test.each([true, false])("faults of form come first, all at once (dryRun %s)", async (dryRun) => {
  const { admin } = await startControlPlane();
  const manifest = { type: "workspace", name: "X", labelz: {}, collaborators: [{ subject: "team:ghosts" }] };
  const { status, body } = await admin.put(workspaces, { manifest, dryRun });
  expect(status).toBe(422);
  const pointers = body.details.map(({ pointer }: Record<string, string>) => pointer).toSorted();
  expect(pointers).toEqual(["/cluster_fqn", "/collaborators/0/role_id", "/labelz", "/name"]);
});

test("unknown fields pass where that is allowed, and come back", async () => {
  const { admin } = await startControlPlane({ unknownFields: "allow" });
  const manifest = { ...cluster, from_the_future: { a: 1 } };
  expect((await admin.put(clusters, { manifest })).body.data.manifest).toEqual(manifest);
});

test("workspaces are filtered exactly and listed newest first", async () => {
  const { admin } = await startControlPlane();
  for (const name of ["c1x", "c2x"]) await admin.put(clusters, { manifest: { ...cluster, name } });
  for (const [name, cluster_fqn] of [
    ["ws1", "c1x"],
    ["ws2", "c1x"],
    ["ws1", "c2x"],
    ["ws3", "c2x"],
  ]) {
    await admin.put(workspaces, { manifest: { ...workspace, name, cluster_fqn } });
  }
  const listed = async (query: string) => {
    const { body } = await admin.get(`${workspaces}?${query}`);
    return [...body.data.map(({ fqn }: Record<string, string>) => fqn), body.pagination.total];
  };
  expect(await listed("")).toEqual(["c2x:ws3", "c2x:ws1", "c1x:ws2", "c1x:ws1", 4]);
  expect(await listed("limit=2&offset=1")).toEqual(["c2x:ws1", "c1x:ws2", 4]);
  expect(await listed("limit=2&offset=4")).toEqual([4]);
  expect(await listed("name=ws1")).toEqual(["c2x:ws1", "c1x:ws1", 2]);
  expect(await listed("clusterId=c1x&limit=1")).toEqual(["c1x:ws2", 2]);
  expect(await listed("fqn=c1x:ws2&name=ws2")).toEqual(["c1x:ws2", 1]);
  for (const query of ["name=ws_", "name=ws%25", "name=WS1", "fqn=c1x:%25", "name=", "clusterId=%27"]) {
    expect(await listed(query)).toEqual([0]);
  }
});
