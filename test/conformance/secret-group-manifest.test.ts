import { expect, test } from "vitest";
import { addUser, type Caller, effects, startControlPlane } from "../control-plane.ts";

const GROUPS = "/api/svc/v1/secret-groups";
const VALUE = "canary-51c0de-value";

const group = (more: object = {}) => ({
  type: "secret-group",
  name: "db",
  secrets: [{ key: "password", value: VALUE }],
  ...more,
});

const put = (caller: Caller, more: object = {}) => caller.put(GROUPS, { manifest: group(more) });

const versionsOf = ({ associatedSecrets }: { associatedSecrets: { name: string; secretVersions: unknown[] }[] }) =>
  associatedSecrets.map(({ name, secretVersions }) => [name, secretVersions.length]);

const pointers = ({ details = [] }: { details?: readonly { pointer: string }[] }) =>
  details.map(({ pointer }) => pointer).toSorted();

test("a secret group is created from its manifest, and written again changes nothing", async () => {
  const { admin, data } = await startControlPlane();
  const created = await put(admin, { integrationId: "builtin" });
  expect(created.status).toBe(200);
  expect(created.text).not.toContain(VALUE);
  expect(created.text).not.toContain('"value"');
  expect(created.body.data).toMatchObject({
    fqn: "holdfast:db",
    integrationId: "builtin",
    associatedSecrets: [{ fqn: "holdfast:db:password", secretVersions: [{ version: 1 }] }],
  });
  expect((await put(admin)).body).toEqual(created.body);
  expect((await admin.get(GROUPS)).body.data).toEqual([created.body.data]);
  expect(await effects(data)).toEqual(["user:admin E11 secret-group/db"]);
});

test("a changed value is a new version, a new key a new secret, and a key left out stays", async () => {
  const { admin, data } = await startControlPlane();
  await put(admin);
  const changed = await put(admin, {
    secrets: [
      { key: "password", value: "another" },
      { key: "user", value: "root" },
    ],
  });
  expect(versionsOf(changed.body.data)).toEqual([
    ["password", 2],
    ["user", 1],
  ]);
  const back = await put(admin);
  expect(versionsOf(back.body.data)).toEqual([
    ["password", 3],
    ["user", 1],
  ]);
  const { id } = back.body.data.associatedSecrets[0];
  const { data: secret } = (await admin.get(`/api/svc/v1/secrets/${id}`)).body;
  expect(secret.value).toBe(VALUE);
  const values = secret.secretVersions.map(({ value }: { value?: string }) => value);
  expect(values).toEqual([VALUE, undefined, undefined]);
  expect((await effects(data)).filter((effect) => effect.includes(" E11 "))).toHaveLength(3);
});

test("a group that createSecretGroup made is found by its name", async () => {
  const { admin } = await startControlPlane();
  const secrets = [{ key: "password", value: VALUE }];
  const made = await admin.post(GROUPS, { name: "db", integrationId: "builtin", secrets });
  expect((await put(admin)).body).toEqual(made.body);
});

test("every fault of the manifest is named at once, without a word of the values", async () => {
  const { admin, data } = await startControlPlane();
  const bad = [
    { key: "a b", value: VALUE },
    { key: "ok", value: "" },
    { key: "ok", value: VALUE },
  ];
  const reply = await put(admin, { name: "no group", secrets: bad, owner: VALUE, integrationId: 1 });
  expect(reply.status).toBe(422);
  expect(pointers(reply.body)).toEqual([
    "/integrationId",
    "/name",
    "/owner",
    "/secrets/0/key",
    "/secrets/1/value",
    "/secrets/2/key",
  ]);
  expect(reply.text).not.toContain(VALUE);
  for (const secrets of [undefined, null, {}, "x"])
    expect(pointers((await put(admin, { secrets })).body)).toEqual(["/secrets"]);
  const wrong = [null, "x", { key: "k" }, { key: "k", value: 1 }, { key: "k", value: VALUE, note: "n" }];
  const refused = await put(admin, { secrets: wrong });
  expect(pointers(refused.body)).toEqual([
    "/secrets/0",
    "/secrets/1",
    "/secrets/2/value",
    "/secrets/3/value",
    "/secrets/4/note",
  ]);
  expect(refused.text).not.toContain(VALUE);
  expect(pointers((await put(admin, { integrationId: "vault" })).body)).toEqual(["/integrationId"]);
  expect(await effects(data)).toEqual([]);
});

test("it is the tenant administrator's to write", async () => {
  const plane = await startControlPlane();
  const stranger = await addUser(plane, "eve@example.com");
  expect((await put(stranger)).status).toBe(403);
  await put(plane.admin);
  expect((await put(stranger)).status).toBe(403);
});
