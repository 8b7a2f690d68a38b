import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, type Caller, caller, startControlPlane } from "../control-plane.ts";
import { toEarlierSchema } from "../support/earlier-schema.ts";
import { plantWorkspace, service, workspace } from "./platform.ts";

const svc = "/api/svc/v1";
const groups = `${svc}/secret-groups`;
const apps = `${svc}/apps`;
const accounts = `${svc}/virtual-accounts`;
const role_id = "secret-group-user";
const fqn = "holdfast:db:password";
const secrets = [{ key: "password", value: "canary-value" }];
const uses = { ...service, env: { PASSWORD: `secret://${fqn}` } };

/** Everything that names the secret. */
const chart = { type: "helm-repo", repo_url: "https://charts.example.com", chart: "redis", version: "1.0.0" };
const manifests: readonly (readonly [what: string, manifest: object])[] = [
  ["in the environment", uses],
  ["in a longer text", { ...service, env: { URL: `postgres://u:secret://${fqn}@db` } }],
  ["under another scheme", { ...service, env: { PASSWORD: `acme-secret://${fqn}` } }],
  ["in a mount", { ...service, mounts: [{ type: "secret", mount_path: "/etc/db", secret_fqn: fqn }] }],
  [
    "in the values of a chart",
    { ...service, type: "helm", source: chart, values: { auth: [{ password: `secret://${fqn}` }] } },
  ],
  [
    "inside of an application that consists of others",
    { ...service, type: "application-set", components: [{ env: { PASSWORD: `secret://${fqn}` } }] },
  ],
];

/** A control plane with a workspace that a developer may deploy to, and a group of secrets that nobody was given. */
async function planted() {
  const plane = await startControlPlane({ unknownFields: "allow" });
  const { admin } = plane;
  await plantWorkspace(admin);
  const collaborators = [{ subject: "user:dev@example.com", role_id: "workspace-editor" }];
  await admin.put(`${svc}/workspaces`, { manifest: { ...workspace, collaborators } });
  await admin.post(groups, { name: "db", integrationId: "builtin", secrets });
  return { ...plane, dev: await addUser(plane, "dev@example.com") };
}

const share = (admin: Caller, collaborators: readonly object[]) =>
  admin.put(groups, { manifest: { type: "secret-group", name: "db", secrets: [], collaborators } });
const deploy = (who: Caller, manifest: object, more: object = {}) => who.put(apps, { manifest, ...more });

test("S48 naming a secret takes a grant, whatever it is named by; without one it reads as absent", async () => {
  const { admin, dev } = await planted();
  for (const [what, manifest] of manifests) {
    const refused = await deploy(dev, manifest);
    expect([what, refused.status, refused.body.details.length]).toEqual([what, 422, 1]);
    expect((await deploy(dev, manifest, { dryRun: true })).text).toBe(refused.text);
    const absent = JSON.parse(JSON.stringify(manifest).replaceAll(":db:", ":ab:"));
    expect((await deploy(dev, absent)).text).toBe(refused.text.replaceAll(":db:", ":ab:"));
    expect([what, (await deploy(admin, manifest, { dryRun: true })).status]).toEqual([what, 200]);
  }
  expect((await share(admin, [{ subject: "user:dev@example.com", role_id }])).status).toBe(200);
  for (const [what, manifest] of manifests) {
    const name = `a-${what.length}`;
    expect([what, (await deploy(dev, { ...manifest, name })).status]).toEqual([what, 200]);
  }
  // Of a group that may be used, what is not in it is absent.
  const { body } = await deploy(dev, { ...service, env: { A: "secret://holdfast:db:other" } });
  expect(body.details).toEqual([
    { pointer: "/env/A", message: 'there is no secret "holdfast:db:other"', code: "dangling-reference" },
  ]);
});

test("S48 whoever may use a group reads no value of it, and lists nothing", async () => {
  const { admin, dev } = await planted();
  const { body } = await share(admin, [{ subject: "user:dev@example.com", role_id }]);
  expect((await dev.get(`${svc}/secrets/${body.data.associatedSecrets[0].id}`)).status).toBe(404);
  expect((await dev.get(groups)).body.data).toEqual([]);
  expect((await share(dev, [])).status).toBe(403);
});

test("S48 the role is given by name, to teams, to everyone, or by a virtual account's permissions", async () => {
  const { admin, dev, url } = await planted();
  await admin.put(`${svc}/teams`, { manifest: { type: "team", name: "ml", members: ["dev@example.com"] } });
  for (const [collaborators, status] of [
    [[{ subject: "team:ml", role_id }], 200],
    [[{ subject: "team:ml", role_id: "my-own-role" }], 422],
    [[{ subject: "team:everyone", role_id }], 200],
    [[{ subject: "user:other@example.com", role_id }], 422],
    [[], 422],
  ] as const) {
    expect((await share(admin, collaborators)).status).toBe(200);
    expect([collaborators, (await deploy(dev, uses)).status]).toEqual([collaborators, status]);
  }
  const permission = (resource_type: string, resource_fqn: string, role: string) => ({
    resource_type,
    resource_fqn,
    role_id: role,
  });
  const editor = permission("workspace", "c1x:ws1", "workspace-editor");
  const account = async (permissions: readonly object[]) =>
    (await admin.put(accounts, { manifest: { type: "virtual-account", name: "ci", permissions } })).body;
  const robot = caller(url, new Secret((await account([editor])).token));
  expect((await deploy(robot, uses)).status).toBe(422);
  await account([editor, permission("secret-group", "holdfast:db", role_id)]);
  expect((await deploy(robot, uses)).status).toBe(200);
  const absent = await account([editor, permission("secret-group", "holdfast:absent", role_id)]);
  expect(absent.details).toMatchObject([{ pointer: "/permissions/1/resource_fqn", code: "dangling-reference" }]);
});

test("S48 what a caller deployed under a grant is refused once that is gone, the same manifest too", async () => {
  const { admin, dev, url } = await planted();
  await share(admin, [{ subject: "user:dev@example.com", role_id }]);
  expect((await deploy(dev, uses)).body.data.version).toBe(1);
  const keyed = async (key: string) =>
    fetch(url + apps, {
      method: "PUT",
      headers: {
        authorization: "Bearer token-of-dev-at-example.com",
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ manifest: uses }),
    }).then(({ status }) => status);
  const key = randomUUID();
  expect(await keyed(key)).toBe(200);
  await share(admin, []);
  expect((await deploy(dev, uses)).status).toBe(422);
  expect((await deploy(dev, uses, { dryRun: true })).status).toBe(422);
  expect(await keyed(key)).toBe(422);
  expect((await deploy(admin, uses)).body.data.version).toBe(3);
});

test("S48 a group's collaborators are part of its manifest, replaced by each write, and checked", async () => {
  const { admin } = await planted();
  const collaborators = [{ subject: "user:dev@example.com", role_id }];
  const shared = (await share(admin, collaborators)).body.data;
  expect(shared.manifest).toEqual({ type: "secret-group", name: "db", integrationId: "builtin", collaborators });
  expect((await share(admin, collaborators)).body.data).toEqual(shared);
  const manifest = { type: "secret-group", name: "db", secrets: [] };
  expect((await admin.put(groups, { manifest })).body.data.manifest).not.toHaveProperty("collaborators");
  const pointers = async (given: unknown) => {
    const { status, body } = await admin.put(groups, { manifest: { ...manifest, collaborators: given } });
    return [status, ...body.details.map(({ pointer }: { pointer: string }) => pointer)];
  };
  expect(await pointers("everyone")).toEqual([422, "/collaborators"]);
  expect(await pointers([{ subject: "dev", role_id }, 1, { subject: "team:ml" }])).toEqual([
    422,
    "/collaborators/0",
    "/collaborators/1",
    "/collaborators/2",
  ]);
  expect(await pointers([{ subject: "team:absent", role_id }])).toEqual([422, "/collaborators/0/subject"]);
  expect((await admin.put(groups, { manifest: { ...manifest, collaborators: null } })).status).toBe(200);
});

test("S48 groups from before grants were asked for are open to everyone, by a grant that can be taken back", async () => {
  const first = await planted();
  await first.close();
  await toEarlierSchema(first.data);
  const { admin, url } = await startControlPlane({ data: first.data });
  const dev = caller(url, new Secret("token-of-dev-at-example.com"));
  const [group] = (await admin.get(groups)).body.data;
  expect(group.manifest.collaborators).toEqual([{ subject: "team:everyone", role_id }]);
  expect((await deploy(dev, uses)).status).toBe(200);
  await share(admin, [{ subject: "user:other@example.com", role_id }]);
  expect((await deploy(dev, uses)).status).toBe(422);
  // A new one is nobody's but the administrators'.
  await admin.put(groups, { manifest: { type: "secret-group", name: "new", secrets } });
  expect((await deploy(dev, { ...service, env: { A: "secret://holdfast:new:password" } })).status).toBe(422);
});
