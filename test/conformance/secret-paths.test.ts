import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { takeSnapshot } from "../../src/commands/snapshots/take-snapshot.ts";
import { Secret } from "../../src/contract/secret.ts";
import { type Caller, caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { toEarlierSchema } from "../support/earlier-schema.ts";
import { eventually } from "../support/eventually.ts";
import { statement } from "../support/test-database.ts";

const accounts = "/api/svc/v1/virtual-accounts";
const groups = "/api/svc/v1/secret-groups";
const store = (secret_path: string) => ({ secret_store_config: { integration_fqn: "builtin", secret_path } });
const account = (name: string, more: object = {}) => ({
  type: "virtual-account",
  name,
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }],
  ...more,
});
const keeping = (name: string, path: string, more: object = {}) => account(name, { ...store(path), ...more });
const group = (name: string, key: string, value = "mine") => ({
  type: "secret-group",
  name,
  secrets: [{ key, value }],
});
const put = (admin: Caller, manifest: object, more: object = {}) => admin.put(accounts, { manifest, ...more });
const taken = {
  status: 422,
  body: { details: [{ pointer: "/secret_store_config/secret_path", code: "secret-taken" }] },
};

/** The newest value of the one secret in a group, and how many versions it has. */
async function valueIn(admin: Caller, name: string): Promise<readonly [value: string, versions: number]> {
  const [found] = (await admin.get(`${groups}?fqn=holdfast:${name}`)).body.data;
  const { data } = (await admin.get(`/api/svc/v1/secrets/${found.associatedSecrets[0].id}`)).body;
  return [data.value, data.secretVersions.length];
}

test("S48 an account's token cannot take the place of a secret that the account did not create", async () => {
  const { admin } = await startControlPlane();
  await admin.put(groups, { manifest: group("payroll", "password") });
  for (const dryRun of [true, false])
    expect(await put(admin, keeping("ci", "payroll/password"), { dryRun })).toMatchObject(taken);
  expect(await valueIn(admin, "payroll")).toEqual(["mine", 1]);
  expect((await admin.get(accounts)).body.data).toEqual([]);
  // Nor can one that is there already be led to it.
  await put(admin, account("ci"));
  expect(await put(admin, keeping("ci", "payroll/password"))).toMatchObject(taken);
  // Another key of the group is nobody's yet.
  expect((await put(admin, keeping("ci", "payroll/ci"))).status).toBe(200);
});

test("S48 a path is its account's own: another account does not get it, an administrator may still write there", async () => {
  const { admin } = await startControlPlane();
  const { token } = (await put(admin, keeping("ci", "machines/ci"))).body;
  expect(await put(admin, keeping("cd", "machines/ci"))).toMatchObject(taken);
  expect(await valueIn(admin, "machines")).toEqual([token, 1]);
  expect((await put(admin, keeping("ci", "machines/ci", { expiration_date: "2999-12-31" }))).status).toBe(200);
  await admin.put(groups, { manifest: group("machines", "ci", "written over") });
  expect(await valueIn(admin, "machines")).toEqual(["written over", 2]);
  expect((await put(admin, keeping("ci", "machines/ci"))).status).toBe(200);
});

/** Two accounts whose rotation is due; the secret at the path of the first was made by somebody else since. */
async function withTakenPath() {
  const plane = await startControlPlane();
  const { admin } = plane;
  const auto_rotate = { auto_rotate_interval: 30, grace_period: 2 };
  const { token } = (await put(admin, account("a", { auto_rotate }))).body;
  await put(admin, keeping("a", "machines/a", { auto_rotate }));
  await admin.put(groups, { manifest: group("machines", "a") });
  await put(admin, keeping("b", "others/b", { auto_rotate }));
  await plane.close();
  return { ...plane, token: new Secret(token) };
}

test("S48 a rotation leaves a secret alone that another one made, and goes on with the other accounts", async () => {
  const { data, token } = await withTakenPath();
  await statement(data, "UPDATE virtual_accounts SET rotate_at = 1");
  const { admin, url } = await startControlPlane({ data });
  await eventually("the other's rotation", async () => (await valueIn(admin, "others"))[1] === 2);
  expect(await valueIn(admin, "machines")).toEqual(["mine", 1]);
  expect((await caller(url, token).get(accounts)).status).toBe(200);
});

test("S48 a revocation leaves it alone too, and ends the token", async () => {
  const { data, token } = await withTakenPath();
  const { admin, url } = await startControlPlane({ data, revoke: ["virtualaccount:a"] });
  expect((await caller(url, token).get(accounts)).status).toBe(401);
  expect(await valueIn(admin, "machines")).toEqual(["mine", 1]);
});

test("S48 accounts from before this was recorded keep the secrets that their paths name, the older one where two do", async () => {
  const first = await startControlPlane();
  await put(first.admin, keeping("ci", "machines/ci"));
  await put(first.admin, account("cd"));
  await first.admin.put(groups, { manifest: group("payroll", "password") });
  await first.close();
  await toEarlierSchema(first.data);
  // A release that did not ask let two of them have one path.
  const [row] = await statement(first.data, "SELECT json FROM virtual_accounts WHERE name = 'cd'");
  const doubled = JSON.parse(String(row?.json));
  const json = JSON.stringify({ ...doubled, manifest: { ...doubled.manifest, ...store("machines/ci") } });
  await statement(first.data, "UPDATE virtual_accounts SET json = ? WHERE name = 'cd'", [json]);
  const { admin } = await startControlPlane({ data: first.data });
  expect((await put(admin, keeping("ci", "machines/ci", { expiration_date: "2999-12-31" }))).status).toBe(200);
  expect(await put(admin, keeping("cd", "machines/ci"))).toMatchObject(taken);
  expect(await put(admin, keeping("ci", "payroll/password"))).toMatchObject(taken);
});

test("S48 a seed folder may hold both a secret and the account that keeps its token there", async () => {
  const seed = await temporaryFolder();
  await writeFile(join(seed, "a.json"), JSON.stringify(group("machines", "ci", "to come")));
  await writeFile(join(seed, "b.json"), JSON.stringify(keeping("ci", "machines/ci")));
  const { admin, close, data } = await startControlPlane({ seed });
  const [value, versions] = await valueIn(admin, "machines");
  expect([value === "to come", versions]).toEqual([false, 2]);
  await admin.put(groups, { manifest: group("payroll", "password") });
  await close();
  // What somebody else made is not taken.
  await writeFile(join(seed, "c.json"), JSON.stringify(keeping("cd", "payroll/password")));
  await expect(startControlPlane({ data, seed })).rejects.toThrow("c.json: /secret_store_config/secret_path");
});

test("S48 in a snapshot a secret stays the account's that keeps its token there, and a group its users'", async () => {
  const live = await startControlPlane();
  await put(live.admin, keeping("ci", "machines/ci"));
  const collaborators = [{ subject: "user:dev@example.com", role_id: "secret-group-user" }];
  await live.admin.put(groups, { manifest: { ...group("payroll", "password"), collaborators } });
  const { signal } = new AbortController();
  await using connection = connect({
    server: live.url,
    clock: systemClock,
    random: systemRandom,
    token: () => live.adminToken,
    concurrency: 4,
    requestTimeout: 10_000,
    connectTimeout: 60_000,
    env: {},
    userAgent: "test",
    signal,
  });
  const { snapshot } = await takeSnapshot(connection.reader, [], { signal });
  const { admin } = await startControlPlane({ snapshot });
  expect((await put(admin, keeping("ci", "machines/ci", { expiration_date: "2999-12-31" }))).status).toBe(200);
  expect((await valueIn(admin, "machines"))[1]).toBe(2);
  expect(await put(admin, keeping("cd", "payroll/password"))).toMatchObject(taken);
  const [copied] = (await admin.get(`${groups}?fqn=holdfast:payroll`)).body.data;
  expect(copied.manifest.collaborators).toEqual(collaborators);
});
