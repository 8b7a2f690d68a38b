import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, caller, effects, startControlPlane } from "../control-plane.ts";
import { statement } from "../support/databases.ts";
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
