import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, type Caller, caller, startControlPlane } from "../control-plane.ts";
import { undoNewest } from "../support/earlier-schema.ts";
import { randomFrom } from "../support/random.ts";
import { databaseOf, statement } from "../support/test-database.ts";
import { account, cluster, service, workspace } from "./platform.ts";

const svc = "/api/svc/v1";
const ml = "/api/ml/v1";

const group = { type: "secret-group", name: "db", secrets: [{ key: "k", value: "v" }] };
const model = { type: "model-version", name: "m", ml_repo: "repo", version: 1, version_alias: "live" };
const prompt = { type: "chat_prompt", name: "p", ml_repo: "repo", messages: [{ role: "user", content: "hi" }] };

/** A write of each manifest, the identity that it is about, and a change of it. */
const writes = [
  { path: `${svc}/clusters`, is: "cluster/c1x", manifest: cluster, change: { base_domains: [] } },
  { path: `${svc}/workspaces`, is: "workspace/c1x:ws1", manifest: workspace, change: { environment_name: "prod" } },
  { path: `${svc}/apps`, is: "service/c1x:ws1/api", manifest: service, change: { replicas: 2 } },
  { path: `${svc}/teams`, is: "team/people", manifest: team(), change: { members: ["b@example.com"] } },
  { path: `${svc}/virtual-accounts`, is: "virtual-account/ci", manifest: account, change: { tags: { of: "ci" } } },
  {
    path: `${svc}/ml-repos`,
    is: "ml-repo/repo",
    manifest: { type: "ml-repo", name: "repo" },
    change: { description: "d" },
  },
  { path: `${svc}/secret-groups`, is: "secret-group/db", manifest: group, change: secrets("w") },
  { path: `${ml}/model-versions`, is: "model-version/repo/m@1", manifest: model, change: { description: "d" } },
  { path: `${ml}/prompt-versions`, is: "chat_prompt/repo/p@1", manifest: prompt, change: { description: "d" } },
] as const;

function team() {
  return { type: "team", name: "people", members: ["a@example.com"] };
}

function secrets(value: string) {
  return { secrets: [{ key: "k", value }] };
}

/** The digest of each range, and how many identities it has. */
async function digests(by: Caller, ...prefixes: readonly string[]): Promise<readonly string[]> {
  const replies = await Promise.all(prefixes.map((prefix) => by.get(`${svc}/digests?prefix=${prefix}`)));
  return replies.map(({ body }) => `${body.data.count} ${body.data.digest}`);
}

async function plant(admin: Caller): Promise<void> {
  for (const { path, manifest } of writes) {
    const { body } = await admin.put(path, { manifest });
    expect({ details: body.details }).toEqual({});
  }
}

test("the digest of a range changes with each write of a manifest in it, and with nothing else", async () => {
  const { admin } = await startControlPlane();
  await plant(admin);
  const ranges = writes.map(({ is }) => is);
  expect(await digests(admin, ...ranges)).toEqual(ranges.map(() => expect.stringMatching(/^1 /)));
  for (const [at, { path, manifest, change }] of writes.entries()) {
    const before = await digests(admin, "", ...ranges);
    // Neither a dry run, nor a refusal, nor the same manifest is a change.
    await admin.put(path, { manifest: { ...manifest, ...change }, dryRun: true });
    await admin.put(path, { manifest: { ...manifest, type: "unknown!" } });
    if (path !== `${svc}/apps`) await admin.put(path, { manifest });
    expect(await digests(admin, "", ...ranges)).toEqual(before);
    expect((await admin.put(path, { manifest: { ...manifest, ...change } })).status).toBe(200);
    const after = await digests(admin, "", ...ranges);
    expect(after.filter((one, index) => one !== before[index])).toEqual([after[0], after[at + 1]]);
    expect(after.every((one, index) => one.split(" ")[0] === before[index]?.split(" ")[0])).toBe(true);
  }
});

test("a version that loses its alias, a group that gets a token and a disabled account have other digests", async () => {
  const { admin } = await startControlPlane();
  await plant(admin);
  const [first] = await digests(admin, "model-version/repo/m@1");
  const second = { ...model, version: 2, source: { type: "external", uri: "s3://models/m/2" } };
  expect((await admin.put(`${ml}/model-versions`, { manifest: second })).status).toBe(200);
  const [former, models] = await digests(admin, "model-version/repo/m@1", "model-version/repo/");
  expect(former).not.toBe(first);
  expect(models).toMatch(/^2 /);
  const [groups] = await digests(admin, "secret-group/");
  const stored = {
    ...account,
    name: "robot",
    secret_store_config: { integration_fqn: "builtin", secret_path: "db/token" },
  };
  expect((await admin.put(`${svc}/virtual-accounts`, { manifest: stored })).status).toBe(200);
  const [withToken, robot] = await digests(admin, "secret-group/", "virtual-account/robot");
  expect(withToken).not.toBe(groups);
  await admin.post(`${svc}/subjects/disable`, { subject: "virtualaccount:robot" });
  expect(await digests(admin, "virtual-account/robot")).not.toEqual([robot]);
});

test("a range names the ranges directly below it, with their counts", async () => {
  const { admin } = await startControlPlane();
  await plant(admin);
  await admin.put(`${svc}/workspaces`, { manifest: { ...workspace, name: "ws2" } });
  await admin.put(`${svc}/apps`, { manifest: { ...service, name: "api-2" } });
  await admin.put(`${svc}/apps`, { manifest: { ...service, workspace_fqn: "c1x:ws2" } });
  const below = async (prefix: string) => {
    const { data } = (await admin.get(`${svc}/digests?prefix=${prefix}`)).body;
    const children = data.children?.map((child: { prefix: string; count: number }) => `${child.prefix} ${child.count}`);
    return { count: data.count, children };
  };
  expect((await below("")).children).toContain("service/ 3");
  expect(await below("service/")).toEqual({ count: 3, children: ["service/c1x: 3"] });
  expect(await below("service/c1x:")).toEqual({ count: 3, children: ["service/c1x:ws1/ 2", "service/c1x:ws2/ 1"] });
  expect(await below("service/c1x:ws1/")).toEqual({ count: 2 });
  // Within the last level, and where nothing is.
  expect(await below("service/c1x:ws1/api-")).toEqual({ count: 1 });
  expect(await below("service/c1x:ws3/")).toEqual({ count: 0 });
  expect(await below("service/c%25")).toEqual({ count: 0 });
  const child = (await admin.get(`${svc}/digests?prefix=service/c1x:`)).body.data.children[0];
  expect(await digests(admin, "service/c1x:ws1/")).toEqual([`2 ${child.digest}`]);
});

test("a range is answered only to those who see all of it", async () => {
  const plane = await startControlPlane();
  const { admin, url } = plane;
  await plant(admin);
  const grant = async (name: string, resource_type: string, resource_fqn: string, role_id: string) => {
    const manifest = { ...account, name, permissions: [{ resource_type, resource_fqn, role_id }] };
    return caller(url, new Secret((await admin.put(`${svc}/virtual-accounts`, { manifest })).body.token));
  };
  const allowed = async (by: Caller) => {
    const asked = ["", "service/", "service/c1x", "service/c1x:", "service/c1x:ws1", "service/c1x:ws1/", "cluster/c1x"];
    const all = [
      ...asked,
      "workspace/c1x:",
      "model-version/repo",
      "model-version/repo/",
      "model-version/repo/m",
      "team/people",
    ];
    const replies = await Promise.all(all.map((prefix) => by.get(`${svc}/digests?prefix=${prefix}`)));
    expect(replies.filter(({ status }) => status !== 200).every(({ status }) => status === 403)).toBe(true);
    return all.filter((_, at) => replies[at]?.status === 200);
  };
  const ofWorkspace = await grant("w", "workspace", "c1x:ws1", "workspace-viewer");
  expect(await allowed(ofWorkspace)).toEqual(["service/c1x:ws1/"]);
  const ofCluster = await grant("c", "cluster", "c1x", "cluster-member");
  expect(await allowed(ofCluster)).toEqual(["service/c1x:", "service/c1x:ws1", "service/c1x:ws1/", "workspace/c1x:"]);
  // It sees the cluster, and nothing on it.
  expect(await allowed(await grant("v", "cluster", "c1x", "cluster-viewer"))).toEqual([]);
  expect(await allowed(await grant("r", "ml-repo", "repo", "ml-repo-viewer"))).toEqual([
    "model-version/repo/",
    "model-version/repo/m",
  ]);
  expect(await allowed(await addUser(plane, "nobody@example.com"))).toEqual([]);
  const viewer = await grant("t", "tenant", "holdfast", "tenant-viewer");
  expect(await allowed(viewer)).toHaveLength(12);
  // Who asks for all of them need not ask whose token it is.
  const { data: itself } = (await viewer.get(`${svc}/me`)).body;
  expect((await viewer.get(`${svc}/digests`)).body.data.caller).toEqual(itself);
  expect((await viewer.get(`${svc}/digests?prefix=team/`)).body.data).not.toHaveProperty("caller");
});

test("everything is summed again only once something was written", async () => {
  const { admin, data } = await startControlPlane();
  await plant(admin);
  const before = await digests(admin, "");
  expect(await digests(admin, "")).toEqual(before);
  await statement(data, "INSERT INTO digests (prefix, name, marker) VALUES ('team/', 'aside', 1)", []);
  const isShared = (await databaseOf(data)) !== null;
  // Nobody but the server writes a file, so it need not look for what others have written.
  expect(await digests(admin, "")).toEqual(isShared ? [expect.not.stringMatching(before[0] ?? "")] : before);
  await admin.put(`${svc}/teams`, { manifest: { ...team(), name: "other" } });
  const [after = ""] = await digests(admin, "");
  expect(Number(after.split(" ")[0])).toBe(Number(before[0]?.split(" ")[0]) + 2);
});

const seed = Number(process.env.SEED ?? Date.now());

test(`however writes and questions come together, everything has the digests of its ranges (seed ${seed})`, async () => {
  const { admin } = await startControlPlane();
  await plant(admin);
  const chance = randomFrom(seed);
  const pick = (below: number): number => Math.floor(chance() * below);
  const some: readonly (() => Promise<unknown>)[] = [
    () =>
      admin.put(`${svc}/teams`, { manifest: { ...team(), name: `t${pick(3)}`, members: [`${pick(9)}@example.com`] } }),
    () => admin.put(`${svc}/workspaces`, { manifest: { ...workspace, name: `w${pick(5)}` } }),
    () => admin.put(`${svc}/apps`, { manifest: { ...service, workspace_fqn: `c1x:w${pick(5)}`, replicas: pick(9) } }),
    () => admin.put(`${svc}/teams`, { manifest: { ...team(), members: [pick(9)] } }),
    () => admin.get(`${svc}/digests`),
    () => admin.get(`${svc}/digests`),
  ];
  for (let round = 0; round < 25; round += 1) {
    await Promise.all(Array.from({ length: 1 + pick(12) }, () => some[pick(some.length)]?.()));
    const { data } = (await admin.get(`${svc}/digests`)).body;
    const children: readonly { readonly prefix: string; readonly count: number; readonly digest: string }[] =
      data.children;
    const said = children.map(({ count, digest }) => `${count} ${digest}`);
    expect({ round, said }).toEqual({ round, said: await digests(admin, ...children.map(({ prefix }) => prefix)) });
  }
});

test("an upgrade counts what an earlier release has stored, and digests outlive a restart", async () => {
  const plane = await startControlPlane();
  await plant(plane.admin);
  const prefixes = ["", ...writes.map(({ is }) => is)];
  const before = await digests(plane.admin, ...prefixes);
  await plane.close();
  const again = await startControlPlane({ data: plane.data });
  expect(await digests(again.admin, ...prefixes)).toEqual(before);
  await again.close();
  await undoNewest(plane.data);
  await statement(plane.data, "DELETE FROM kysely_migration WHERE name >= '0060'", []);
  const upgraded = await startControlPlane({ data: plane.data });
  const counts = (all: readonly string[]) => all.map((one) => one.split(" ")[0]);
  expect(counts(await digests(upgraded.admin, ...prefixes))).toEqual(counts(before));
});
