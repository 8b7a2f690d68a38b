import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, type Caller, caller, effects, startControlPlane } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { everything, statement } from "../support/test-database.ts";
import { cluster, plantWorkspace, workspace } from "./platform.ts";

const ACCOUNTS = "/api/svc/v1/virtual-accounts";
const WORKSPACES = "/api/svc/v1/workspaces";
const viewer = { resource_type: "workspace", resource_fqn: "c1x:ws1", role_id: "workspace-viewer" };
const account = (more = {}) => ({
  manifest: { type: "virtual-account", name: "ci", permissions: [viewer], ...more },
});

async function withWorkspace() {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  return plane;
}

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);

describe("a virtual account", () => {
  test("gets its token once, when it is created", async () => {
    const { admin, data } = await withWorkspace();
    const { status, body } = await admin.put(ACCOUNTS, account());
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      name: "ci",
      type: "virtual-account",
      tenantName: "holdfast",
      isExpired: false,
      manifest: account().manifest,
      metadata: {},
      createdBySubject: { subjectType: "user" },
    });
    expect(body.data.jwts).toMatchObject([
      {
        id: body.data.jwtId,
        subjectType: "virtualaccount",
        subjectId: body.data.id,
        expiry: "9999-12-31T23:59:59.999Z",
      },
    ]);
    expect(decodeJwt(body.token)).toMatchObject({ jti: body.data.jwtId, sub: body.data.id });
    expect(decodeProtectedHeader(body.token)).toMatchObject({ alg: "EdDSA", kid: expect.any(String) });
    const again = await admin.put(ACCOUNTS, account());
    expect(again.body).toEqual({ data: body.data });
    const changed = await admin.put(ACCOUNTS, account({ expiration_date: day(2) }));
    expect(changed.body).not.toHaveProperty("token");
    expect(changed.body.data).toMatchObject({ id: body.data.id, jwtId: body.data.jwtId });
    expect(changed.body.data.jwts[0].expiry).toBe(`${day(3)}T00:00:00.000Z`);
    const listed = await admin.get(ACCOUNTS);
    expect(listed.body.data).toEqual([changed.body.data]);
    expect(listed.text).not.toContain(body.token);
    expect((await effects(data)).slice(2)).toEqual(Array(2).fill("user:admin 18 virtual-account/ci"));
  });

  test("is dry-run without id, token or trace", async () => {
    const { admin, data } = await withWorkspace();
    const { body } = await admin.put(ACCOUNTS, { ...account(), dryRun: true });
    expect(body.data).toMatchObject({ jwts: [], isExpired: false });
    expect(body.data).not.toHaveProperty("id");
    expect(body.data).not.toHaveProperty("jwtId");
    expect(body).not.toHaveProperty("token");
    expect((await admin.get(ACCOUNTS)).body.pagination.total).toBe(0);
    const created = await admin.put(ACCOUNTS, account());
    const tried = await admin.put(ACCOUNTS, { ...account({ expiration_date: day(9) }), dryRun: true });
    expect(tried.body.data).toMatchObject({ id: created.body.data.id, createdAt: created.body.data.createdAt });
    expect((await admin.get(ACCOUNTS)).body.data).toEqual([created.body.data]);
    expect(await effects(data)).toHaveLength(3);
  });

  test("acts with the roles that it holds, from the next request on", async () => {
    const { admin, url } = await withWorkspace();
    await admin.put(WORKSPACES, { manifest: { ...workspace, name: "ws2" } });
    const { token } = (await admin.put(ACCOUNTS, account())).body;
    const ci = caller(url, new Secret(token));
    const seen = async () => (await ci.get(WORKSPACES)).body.data.map(({ fqn }: { fqn: string }) => fqn);
    expect(await seen()).toEqual(["c1x:ws1"]);
    await admin.put(ACCOUNTS, account({ permissions: [{ ...viewer, resource_fqn: "c1x:ws2" }] }));
    expect(await seen()).toEqual(["c1x:ws2"]);
    // It sees itself, and no account besides.
    await admin.put(ACCOUNTS, account({ name: "cd" }));
    expect((await ci.get(ACCOUNTS)).body.data.map(({ name }: { name: string }) => name)).toEqual(["ci"]);
    expect((await ci.put(ACCOUNTS, account({ name: "new" }))).status).toBe(403);
    expect((await ci.put(ACCOUNTS, account())).status).toBe(403);
  });

  test("can be a collaborator, and is told from a user of the same name", async () => {
    const plane = await withWorkspace();
    const { token } = (await plane.admin.put(ACCOUNTS, account({ permissions: [viewer] }))).body;
    const collaborators = [{ subject: "virtualaccount:ci", role_id: "workspace-viewer" }];
    const written = await plane.admin.put(WORKSPACES, { manifest: { ...workspace, name: "ws2", collaborators } });
    expect(written.status).toBe(200);
    const total = async (one: ReturnType<typeof caller>) => (await one.get(WORKSPACES)).body.pagination.total;
    expect(await total(caller(plane.url, new Secret(token)))).toBe(2);
    expect(await total(await addUser(plane, "ci"))).toBe(0);
  });

  test("administers the tenant when it holds that role", async () => {
    const { admin, url } = await withWorkspace();
    const permissions = [{ resource_type: "tenant", resource_fqn: "holdfast", role_id: "tenant-admin" }];
    const ci = caller(url, new Secret((await admin.put(ACCOUNTS, account({ permissions }))).body.token));
    const made = await ci.put(ACCOUNTS, account({ name: "cd" }));
    expect(made.body.data).toMatchObject({
      createdBySubject: { subjectType: "virtualaccount", subjectSlug: "ci" },
      createdBy: (await ci.get(ACCOUNTS)).body.data[1].id,
    });
    expect((await ci.put("/api/svc/v1/teams", { manifest: { type: "sso-team", name: "t" } })).status).toBe(200);
  });

  test("is refused when expired, at once, and let in again when its date moves", async () => {
    const { admin, url } = await withWorkspace();
    const created = await admin.put(ACCOUNTS, account({ expiration_date: day(-1) }));
    expect(created.body.data.isExpired).toBe(true);
    const ci = caller(url, new Secret(created.body.token));
    expect((await ci.get(WORKSPACES)).status).toBe(401);
    await admin.put(ACCOUNTS, account({ expiration_date: day(0) }));
    expect((await ci.get(WORKSPACES)).status).toBe(200);
    await admin.put(ACCOUNTS, account({ expiration_date: day(-1) }));
    expect((await ci.get(WORKSPACES)).status).toBe(401);
  });

  test("cannot be impersonated by a token that another key signed", async () => {
    const [one, other] = [await withWorkspace(), await withWorkspace()];
    const { token } = (await one.admin.put(ACCOUNTS, account())).body;
    const foreign = await caller(other.url, new Secret(token)).get(WORKSPACES);
    expect([foreign.status, foreign.headers.get("www-authenticate")]).toEqual([401, expect.stringContaining("Bearer")]);
  });

  test("keeps its token across a restart, while the database alone gives none", async () => {
    const plane = await withWorkspace();
    const { token } = (await plane.admin.put(ACCOUNTS, account())).body;
    await plane.close();
    const database = await everything(plane.data);
    for (const part of [token, ...token.split(".").slice(2)]) expect(database.includes(part)).toBe(false);
    const again = await startControlPlane({ data: plane.data });
    expect((await caller(again.url, new Secret(token)).get(WORKSPACES)).status).toBe(200);
  });

  test("is out of reach for a server with another key, which does not start", async () => {
    const plane = await withWorkspace();
    await plane.close();
    await writeFile(join(plane.data, "server-key"), `${Buffer.alloc(32, 7).toString("base64")}\n`);
    await expect(startControlPlane({ data: plane.data })).rejects.toThrow("sealed with another key");
  });

  test("needs at least one permission, on what exists, and an owner that exists", async () => {
    const { admin } = await withWorkspace();
    const codes = async (more: object) =>
      (await admin.put(ACCOUNTS, account(more))).body.details.map(({ pointer }: { pointer: string }) => pointer);
    expect(await codes({ permissions: [] })).toEqual(["/permissions"]);
    expect(await codes({ permissions: [{ ...viewer, resource_fqn: "c1x:absent" }] })).toEqual([
      "/permissions/0/resource_fqn",
    ]);
    expect(await codes({ ownedBy: { team: "absent" } })).toEqual(["/ownedBy/team"]);
    expect(await codes({ expiration_date: "2027-02-30" })).toEqual(["/expiration_date"]);
    expect(await codes({ auto_rotate: { auto_rotate_interval: 29, grace_period: 0 } })).toHaveLength(2);
  });
});

describe("a token that is kept as a secret besides", () => {
  const stored = (secret_path: string, more = {}) =>
    account({ secret_store_config: { integration_fqn: "builtin", secret_path }, ...more });

  test("is found under its path, in a group that is made for it", async () => {
    const { admin } = await withWorkspace();
    const { token } = (await admin.put(ACCOUNTS, stored("machines/ci"))).body;
    const [group] = (await admin.get("/api/svc/v1/secret-groups")).body.data;
    expect(group).toMatchObject({ name: "machines", associatedSecrets: [{ fqn: "holdfast:machines:ci" }] });
    const { data } = (await admin.get(`/api/svc/v1/secrets/${group.associatedSecrets[0].id}`)).body;
    expect(data.value).toBe(token);
  });

  test("is refused for a path of the wrong form (422), and for a store that is not here (424)", async () => {
    const { admin, data } = await withWorkspace();
    for (const path of ["machines", "a/b/c", "/ci", "machines/", "a b/ci"])
      expect((await admin.put(ACCOUNTS, stored(path))).body.details[0].pointer).toBe(
        "/secret_store_config/secret_path",
      );
    const elsewhere = account({ secret_store_config: { integration_fqn: "acme:vault", secret_path: "any" } });
    for (const dryRun of [true, false])
      expect((await admin.put(ACCOUNTS, { ...elsewhere, dryRun })).body).toMatchObject({
        statusCode: 424,
        code: "secret-store-failed",
      });
    expect((await admin.put(ACCOUNTS, account({ secret_store_config: {} }))).status).toBe(422);
    expect(await effects(data)).toHaveLength(2);
  });
});

describe("rotation", () => {
  const auto_rotate = { auto_rotate_interval: 30, grace_period: 2 };

  test("is announced, and said not to be carried out where nobody could fetch the token", async () => {
    const { admin } = await withWorkspace();
    const { data } = (await admin.put(ACCOUNTS, account({ auto_rotate }))).body;
    expect(Date.parse(data.nextScheduledRotation) - Date.parse(data.jwts[0].createdAt)).toBe(30 * 86_400_000);
    expect(data.metadata.rotation).toContain("not rotated");
    const plain = (await admin.put(ACCOUNTS, account())).body.data;
    expect([plain.nextScheduledRotation, plain.metadata]).toEqual([undefined, {}]);
  });
});

describe("a rotation whose time has come", () => {
  const rotating = account({
    auto_rotate: { auto_rotate_interval: 30, grace_period: 2 },
    secret_store_config: { integration_fqn: "builtin", secret_path: "machines/ci" },
  });

  async function secretValue(admin: Caller): Promise<{ readonly version: number; readonly value: string }> {
    const [group] = (await admin.get("/api/svc/v1/secret-groups")).body.data;
    const { data } = (await admin.get(`/api/svc/v1/secrets/${group.associatedSecrets[0].id}`)).body;
    return data.secretVersions[0];
  }

  test("puts a new token into the store, and leaves the former one its days of grace", async () => {
    const plane = await withWorkspace();
    const { token, data } = (await plane.admin.put(ACCOUNTS, rotating)).body;
    expect(data.metadata).toEqual({});
    await plane.close();
    // As if the interval had passed.
    await statement(plane.data, "UPDATE virtual_accounts SET rotate_at = 1");
    const { admin, url } = await startControlPlane({ data: plane.data });
    const rotated = await eventually("the new token is in the store", async () => {
      const value = await secretValue(admin);
      return value.version === 2 && value.value;
    });
    const status = async (text: string) => (await caller(url, new Secret(text)).get(WORKSPACES)).status;
    expect([await status(token), await status(rotated)]).toEqual([200, 200]);
    const [after] = (await admin.get(ACCOUNTS)).body.data;
    expect(after.jwts.map(({ id }: { id: string }) => id)).toEqual([after.jwtId, data.jwtId]);
    const [now, former] = after.jwts;
    expect(Date.parse(former.expiry) - Date.parse(now.createdAt)).toBe(2 * 86_400_000);
    expect(Date.parse(after.nextScheduledRotation) - Date.parse(now.createdAt)).toBe(30 * 86_400_000);
    expect(await effects(plane.data)).toContain("rotation 18 virtual-account/ci");
    await statement(plane.data, "UPDATE jwts SET valid_until = 1 WHERE valid_until IS NOT NULL");
    await eventually("the former token is void", async () => (await status(token)) === 401);
    expect(await status(rotated)).toBe(200);
  });
});

describe("an account that is reissued", () => {
  const reissue = `${ACCOUNTS}/ci/reissue`;

  test("gets another token after its own was revoked, which has the same roles", async () => {
    const plane = await withWorkspace();
    const { token, data } = (await plane.admin.put(ACCOUNTS, account())).body;
    await plane.close();
    const { admin, url } = await startControlPlane({ data: plane.data, revoke: ["virtualaccount:ci"] });
    const as = (text: string) => caller(url, new Secret(text));
    expect((await as(token).get(WORKSPACES)).status).toBe(401);
    const { status, body } = await admin.post(reissue, undefined);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: data.id, manifest: data.manifest, jwts: [{ id: body.data.jwtId }] });
    expect((await as(body.token).get(WORKSPACES)).body.data).toHaveLength(1);
    expect((await as(token).get(WORKSPACES)).status).toBe(401);
    expect((await admin.get(ACCOUNTS)).body.data).toEqual([body.data]);
    expect((await effects(plane.data)).at(-1)).toBe("user:admin E20 virtual-account/ci");
  });

  test("keeps the former token for its days of grace, and has the new one in its secret too", async () => {
    const { admin, url } = await withWorkspace();
    const auto_rotate = { auto_rotate_interval: 30, grace_period: 3 };
    const secret_store_config = { integration_fqn: "builtin", secret_path: "machines/ci" };
    const { token } = (await admin.put(ACCOUNTS, account({ auto_rotate, secret_store_config }))).body;
    const { body } = await admin.post(reissue, undefined);
    for (const text of [token, body.token])
      expect((await caller(url, new Secret(text)).get(WORKSPACES)).status).toBe(200);
    const [now, former] = body.data.jwts;
    expect(Date.parse(former.expiry) - Date.parse(now.createdAt)).toBe(3 * 86_400_000);
    expect(Date.parse(body.data.nextScheduledRotation) - Date.parse(now.createdAt)).toBe(30 * 86_400_000);
    const [group] = (await admin.get("/api/svc/v1/secret-groups")).body.data;
    expect((await admin.get(`/api/svc/v1/secrets/${group.associatedSecrets[0].id}`)).body.data.value).toBe(body.token);
  });

  test("is one that exists and is not disabled", async () => {
    const { admin, data } = await withWorkspace();
    expect((await admin.post(reissue, undefined)).status).toBe(404);
    await admin.put(ACCOUNTS, account());
    await admin.post("/api/svc/v1/subjects/disable", { subject: "virtualaccount:ci" });
    const before = await effects(data);
    expect(await admin.post(reissue, undefined)).toMatchObject({ status: 409, body: { code: "disabled" } });
    expect(await effects(data)).toEqual(before);
  });
});

describe("an account with a target for notifications", () => {
  test("says that this control plane sends none", async () => {
    const { admin } = await withWorkspace();
    const notification_target = { type: "email", notification_channel: "builtin", to_emails: ["ops@example.com"] };
    const { data } = (await admin.put(ACCOUNTS, account({ notification_target }))).body;
    expect(data.metadata).toEqual({ notification: expect.stringContaining("sends no notifications") });
  });
});

describe("granting", () => {
  test("is bounded by what the granting caller holds", async () => {
    const plane = await withWorkspace();
    const collaborators = [{ subject: "user:ada@example.com", role_id: "workspace-admin" }];
    await plane.admin.put(WORKSPACES, { manifest: { ...workspace, collaborators } });
    const ada = await addUser(plane, "ada@example.com");
    const grant = (subject: string, role_id: string) =>
      ada.put(WORKSPACES, { manifest: { ...workspace, collaborators: [...collaborators, { subject, role_id }] } });
    expect((await grant("user:bob@example.com", "workspace-editor")).status).toBe(200);
    expect((await grant("user:bob@example.com", "custom-role")).status).toBe(403);
    expect((await ada.put(ACCOUNTS, account())).status).toBe(403);
    expect((await ada.put("/api/svc/v1/clusters", { manifest: cluster })).status).toBe(403);
  });
});
