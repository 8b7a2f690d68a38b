import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, caller, effects, startControlPlane } from "../control-plane.ts";
import { toEarlierSchema } from "../support/earlier-schema.ts";
import { eventually } from "../support/eventually.ts";
import { statement } from "../support/test-database.ts";
import { cluster } from "./platform.ts";

const path = (name: string) => `/api/svc/v1/personal-access-tokens/${name}`;
const accounts = "/api/svc/v1/virtual-accounts";
const clusterOf = "/api/svc/v1/clusters/c1x";
const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "c1x", resource_type: "cluster", role_id: "cluster-viewer" }],
};

test("a token is made on a miss and shown then alone; it calls as its owner, and never expires", async () => {
  const { admin, url, data } = await startControlPlane();
  const made = (await admin.get(path("laptop"))).body;
  expect(made).toEqual({ data: expect.any(Object), token: expect.any(String), created: true });
  expect(made.data).toMatchObject({ name: "laptop", type: "personal-access-token", isExpired: false, jwts: [] });
  expect((await admin.get(path("laptop"))).body).toEqual({ data: made.data, created: false });
  const mine = caller(url, new Secret(made.token));
  expect((await mine.put("/api/svc/v1/clusters", { manifest: cluster })).status).toBe(200);
  expect((await mine.get(path("laptop"))).body).toEqual({ data: made.data, created: false });
  expect(await effects(data)).toEqual([
    "user:admin 7 personal-access-token/user:admin/laptop",
    "user:admin 17 cluster/c1x",
  ]);
});

test("everyone has names of their own, and every kind of caller may", async () => {
  const plane = await startControlPlane();
  const { admin, url } = plane;
  await admin.put("/api/svc/v1/clusters", { manifest: cluster });
  const { token } = (await admin.put(accounts, { manifest: account })).body;
  const callers = [admin, await addUser(plane, "dev@example.com"), caller(url, new Secret(token))];
  const replies = await Promise.all(callers.map((one) => one.get(path("same"))));
  expect(replies.map(({ body }) => body.created)).toEqual([true, true, true]);
  expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(3);
  const seen = await Promise.all(
    replies.map(async ({ body }) => (await caller(url, new Secret(body.token)).get(clusterOf)).status),
  );
  expect(seen).toEqual([200, 404, 200]);
  // They are nobody's virtual accounts.
  expect((await admin.get(accounts)).body.pagination.total).toBe(1);
});

test("of many calls at once, one makes the token", async () => {
  const { admin } = await startControlPlane();
  const replies = await Promise.all(Array.from({ length: 10 }, () => admin.get(path("x"))));
  expect(replies.filter(({ body }) => body.created)).toHaveLength(1);
  expect(replies.filter(({ body }) => body.token !== undefined)).toHaveLength(1);
  expect(new Set(replies.map(({ body }) => body.data.id)).size).toBe(1);
});

test("a token ends with its owner, and loses the roles that its owner loses", async () => {
  const { admin, url } = await startControlPlane();
  await admin.put("/api/svc/v1/clusters", { manifest: cluster });
  const { token } = (await admin.put(accounts, { manifest: account })).body;
  const made = (await caller(url, new Secret(token)).get(path("x"))).body;
  const personal = caller(url, new Secret(made.token));
  expect((await personal.get(clusterOf)).status).toBe(200);
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  await admin.put(accounts, { manifest: { ...account, permissions } });
  expect((await personal.get(clusterOf)).status).toBe(404);
  await admin.put(accounts, { manifest: { ...account, expiration_date: "2020-01-01" } });
  expect((await personal.get(clusterOf)).status).toBe(401);
});

test("what is no name is 400", async () => {
  const { admin } = await startControlPlane();
  for (const name of ["a%20b", "a%2Fb", "x".repeat(65), "%F0%9F%90%99", "a:b"]) {
    expect([name, (await admin.get(path(name))).status]).toEqual([name, 400]);
  }
});

test("S34 of a token only its hash is kept", async () => {
  const { admin, data, close } = await startControlPlane();
  const { token } = (await admin.get(path("x"))).body;
  const rows = await statement(data, "SELECT * FROM personal_tokens");
  expect(JSON.stringify(rows)).not.toContain(token);
  await close();
  const file = await readFile(join(data, "control-plane.db"), "latin1").catch(() => "");
  expect(file).not.toContain(token);
});

const list = "/api/svc/v1/personal-access-tokens";
const first = new Secret("the-first-admin-token");
const second = new Secret("the-second-admin-token");

/** Makes a personal access token as the holder of another token. */
async function make(url: string, token: Secret, name: string) {
  const { body } = await caller(url, token).get(path(name));
  expect(body.created).toBe(true);
  return { id: body.data.id as string, token: new Secret(body.token) };
}

const statusOf = async (url: string, token: Secret) => (await caller(url, token).get("/api/svc/v1/clusters")).status;

test("S47 replacing the administrator's token ends the tokens that were made with it, and those that these made", async () => {
  const plane = await startControlPlane({ adminToken: first });
  const { data } = plane;
  const laptop = await make(plane.url, first, "laptop");
  const phone = await make(plane.url, laptop.token, "phone");
  const { token } = (await plane.admin.put(accounts, { manifest: { ...account, permissions: everything } })).body;
  const robot = await make(plane.url, new Secret(token), "robot");
  await plane.close();

  const same = await startControlPlane({ data, adminToken: first });
  const statuses = (url: string) => Promise.all([laptop, phone, robot].map((made) => statusOf(url, made.token)));
  expect(await statuses(same.url)).toEqual([200, 200, 200]);
  await same.close();

  const replaced = await startControlPlane({ data, adminToken: second });
  expect(await statuses(replaced.url)).toEqual([401, 401, 200]);
  expect((await replaced.admin.get(`${list}?subject=user%3Aadmin`)).body.data).toEqual([]);
  // The name is free again.
  await make(replaced.url, second, "laptop");
  await replaced.close();

  // They would be valid again with it.
  await expect(startControlPlane({ data, adminToken: first })).rejects.toThrow("has ended");
});

const everything = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-admin" }];

test("S47 a rotation ends the tokens that were made with the former token, after its grace", async () => {
  const plane = await startControlPlane();
  const manifest = {
    ...account,
    permissions: everything,
    auto_rotate: { auto_rotate_interval: 30, grace_period: 2 },
    secret_store_config: { integration_fqn: "builtin", secret_path: "machines/ci" },
  };
  const { token, data } = (await plane.admin.put(accounts, { manifest })).body;
  const made = await make(plane.url, new Secret(token), "x");
  await plane.close();
  // As if the interval had passed.
  await statement(plane.data, "UPDATE virtual_accounts SET rotate_at = 1");
  const { admin, url } = await startControlPlane({ data: plane.data });
  const rotated = await eventually("the rotation", async () => {
    const [present] = (await admin.get(accounts)).body.data;
    return present.jwtId !== data.jwtId && present;
  });
  expect(await statusOf(url, made.token)).toBe(200);
  const [shown] = (await admin.get(list)).body.data;
  expect(shown).toMatchObject({ createdWith: `jwt/${data.jwtId}`, expiry: rotated.jwts[1].expiry });
  await statement(plane.data, "UPDATE jwts SET valid_until = 1 WHERE valid_until IS NOT NULL");
  await eventually("the end of the grace", async () => (await statusOf(url, made.token)) === 401);
  expect((await admin.get(list)).body.data).toEqual([]);
});

test("S47 revoking an account's tokens ends the personal ones that it made", async () => {
  const { admin, url, data, close } = await startControlPlane({ adminToken: first });
  const { token } = (await admin.put(accounts, { manifest: { ...account, permissions: everything } })).body;
  const made = await make(url, new Secret(token), "x");
  const kept = await make(url, first, "x");
  await close();
  const again = await startControlPlane({ data, adminToken: first, revoke: ["virtualaccount:ci"] });
  expect([await statusOf(again.url, made.token), await statusOf(again.url, kept.token)]).toEqual([401, 200]);
});

test("S47 tokens from before their maker was recorded end with their owner's present credential", async () => {
  const plane = await startControlPlane({ adminToken: first });
  const { token } = (await plane.admin.put(accounts, { manifest: { ...account, permissions: everything } })).body;
  const made = [await make(plane.url, first, "a"), await make(plane.url, new Secret(token), "b")];
  const { data } = plane;
  await plane.close();
  await toEarlierSchema(data);
  const upgraded = await startControlPlane({ data, adminToken: first });
  const statuses = (url: string) => Promise.all(made.map((one) => statusOf(url, one.token)));
  expect(await statuses(upgraded.url)).toEqual([200, 200]);
  expect((await upgraded.admin.get(list)).body.data).toHaveLength(2);
  expect((await upgraded.admin.get(list)).text).not.toContain("createdWith");
  await upgraded.close();
  const replaced = await startControlPlane({ data, adminToken: second });
  expect(await statuses(replaced.url)).toEqual([401, 200]);
  await replaced.close();
  const revoked = await startControlPlane({ data, adminToken: second, revoke: ["virtualaccount:ci"] });
  expect(await statuses(revoked.url)).toEqual([401, 401]);
});

test("S47 everyone lists and revokes the tokens of its own, an administrator those of others too", async () => {
  const plane = await startControlPlane({ adminToken: first });
  const { admin, url } = plane;
  const dev = await addUser(plane, "dev@example.com");
  const hers = new Secret("token-of-dev-at-example.com");
  const [one, two] = [await make(url, hers, "one"), await make(url, hers, "two")];
  const below = await make(url, one.token, "below");
  const foreign = await make(url, first, "foreign");
  const names = async (who: typeof admin, query = "") =>
    (await who.get(`${list}${query}`)).body.data.map(({ name }: { name: string }) => name);
  expect(await names(dev)).toEqual(["below", "two", "one"]);
  expect(await names(admin)).toEqual(["foreign", "below", "two", "one"]);
  expect(await names(admin, "?subject=user%3Adev@example.com&limit=1&offset=2")).toEqual(["one"]);
  expect(await names(dev, "?subject=user%3Aadmin")).toEqual([]);
  for (const subject of ["user:nobody", "virtualaccount:ci", "dev@example.com", "team:x", ""])
    expect(await names(admin, `?subject=${encodeURIComponent(subject)}`)).toEqual([]);
  expect((await dev.get(list)).body.data[0]).toEqual({
    id: below.id,
    name: "below",
    subject: "user:dev@example.com",
    createdAt: expect.any(String),
    createdWith: `personal-access-token/${one.id}`,
  });

  const revoke = (who: typeof admin, id: string) => who.post(list, { revoke: id });
  const invisible = await revoke(dev, foreign.id);
  expect(invisible.status).toBe(404);
  expect((await revoke(dev, "absent")).text).toBe(invisible.text);
  // With a token go those that it made.
  expect(await revoke(dev, one.id)).toMatchObject({ status: 200, body: {} });
  expect(await revoke(dev, one.id)).toMatchObject({ status: 404 });
  expect(await revoke(admin, two.id)).toMatchObject({ status: 200 });
  const ended = await Promise.all([one, two, below, foreign].map((made) => statusOf(url, made.token)));
  expect(ended).toEqual([401, 401, 401, 200]);
  expect((await effects(plane.data)).slice(-3)).toEqual([
    "user:dev@example.com E13 personal-access-token/user:dev@example.com/one",
    "user:dev@example.com E13 personal-access-token/user:dev@example.com/below",
    "user:admin E13 personal-access-token/user:dev@example.com/two",
  ]);
});

test("S47 when a token was last used is shown at once, and kept without a write for each request", async () => {
  const plane = await startControlPlane();
  const { token } = await make(plane.url, plane.adminToken, "x");
  const before = Date.now();
  for (let nth = 0; nth < 20; nth += 1) expect(await statusOf(plane.url, token)).toBe(200);
  const kept = async () => (await statement(plane.data, "SELECT last_used_at FROM personal_tokens"))[0]?.last_used_at;
  expect(await kept()).toBeNull();
  const lastUsedAt = async ({ admin }: Pick<typeof plane, "admin">) => {
    const [{ lastUsedAt: text }] = (await admin.get(list)).body.data;
    return Date.parse(text);
  };
  const shown = await lastUsedAt(plane);
  expect(shown).toBeGreaterThanOrEqual(before);
  expect(shown).toBeLessThanOrEqual(Date.now());
  await plane.close();
  expect(Number(await kept())).toBe(shown);
  const again = await startControlPlane({ data: plane.data });
  expect(await lastUsedAt(again)).toBe(shown);
  // What is kept says nearly the same: nothing more is written.
  expect(await statusOf(again.url, token)).toBe(200);
  await again.close();
  expect(Number(await kept())).toBe(shown);
});

test("S47 without the extensions tokens can be made, and neither listed nor revoked", async () => {
  const { admin } = await startControlPlane({ documentedOnly: true });
  const { data } = (await admin.get(path("revoke"))).body;
  expect((await admin.get(list)).status).toBe(404);
  expect((await admin.post(list, { revoke: data.id })).status).toBe(404);
});
