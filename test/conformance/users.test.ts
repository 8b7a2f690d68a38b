import { describe, expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { revokeInDatabase } from "../../src/server/offline-admin.ts";
import { addUser, caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { machine } from "../support/machine.ts";
import { databaseOf, everything, statement } from "../support/test-database.ts";
import { cluster } from "./platform.ts";

const users = "/api/svc/v1/users";
const me = "/api/svc/v1/me";
const mine = "/api/svc/v1/personal-access-tokens/mine";
const ada = { email: "ada@example.com" };

describe("a user that is added", () => {
  test("gets a token in that reply alone, of which the hash is kept, and has the roles of its e-mail", async () => {
    const plane = await startControlPlane();
    const { admin, url, data } = plane;
    const manifest = { ...cluster, collaborators: [{ subject: "user:ada@example.com", role_id: "cluster-viewer" }] };
    await admin.put("/api/svc/v1/clusters", { manifest });
    const added = (await admin.put(users, { email: "Ada@Example.com", displayName: "Ada Lovelace" })).body;
    expect(added).toEqual({
      data: {
        id: expect.any(String),
        subject: "user:ada@example.com",
        displayName: "Ada Lovelace",
        signIn: "token",
        state: "active",
        createdAt: expect.any(String),
      },
      token: expect.any(String),
      created: true,
    });
    const user = caller(url, new Secret(added.token));
    expect((await user.get("/api/svc/v1/clusters/c1x")).status).toBe(200);
    expect((await user.get(me)).body.data).toMatchObject({ subject: "user:ada@example.com", subjectId: added.data.id });
    expect(await everything(data)).not.toContain(added.token);
    expect((await effects(data)).at(-1)).toBe("user:admin E17 user/ada@example.com");
    const before = await effects(data);
    expect((await admin.put(users, ada)).body).toEqual({ data: added.data, created: false });
    expect(await effects(data)).toEqual(before);
    expect((await admin.put(users, { ...ada, displayName: "A" })).body.data).toMatchObject({ displayName: "A" });
  });

  test("is one for all spellings of its e-mail, and an e-mail that looks like another is refused", async () => {
    const { admin } = await startControlPlane();
    expect((await admin.put(users, ada)).body.created).toBe(true);
    expect((await admin.put(users, { email: "ADA@EXAMPLE.COM" })).body.created).toBe(false);
    for (const email of [
      "\uFF41da@example.com",
      "ada@example.\uFF43om",
      "ad\u00e0@example.com".normalize("NFD"),
      // The sign of Kelvin becomes a letter in lower case.
      "\u212Aelvin@example.com",
      "ada@example.com\u200B",
      "ada",
      "ada@",
      "@example.com",
      "a da@example.com",
      "ada@b@example.com",
      "team:ada@example.com",
      `${"x".repeat(250)}@example.com`,
    ]) {
      const { status, body } = await admin.put(users, { email });
      expect([email, status, body.details]).toEqual([email, 400, [expect.objectContaining({ pointer: "/email" })]]);
    }
    for (const wrong of [{ signIn: "password" }, { displayName: "" }, { displayName: "a\u0007" }]) {
      expect((await admin.put(users, { ...ada, ...wrong })).status).toBe(400);
    }
    expect((await admin.get(users)).body.pagination.total).toBe(2);
  });

  test("is whom manifests and commands name by its e-mail in any case, also in the data of earlier releases", async () => {
    const data = await temporaryFolder();
    const first = await startControlPlane({ data });
    const manifest = {
      type: "team",
      name: "ml",
      members: ["bob@example.com", "BOB@example.com"],
      managers: ["Ada@Example.com"],
    };
    const collaborators = [{ subject: "user:ADA@example.com", role_id: "cluster-viewer" }];
    await first.admin.put("/api/svc/v1/clusters", { manifest: { ...cluster, collaborators } });
    expect((await first.admin.put("/api/svc/v1/teams", { manifest })).body.data.manifest).toEqual(manifest);
    const tokens = new Map<string, string>();
    for (const email of ["ada@example.com", "bob@example.com"]) {
      tokens.set(email, (await first.admin.put(users, { email })).body.token);
    }
    const seenBy = async ({ url }: typeof first, email: string) => {
      const user = caller(url, new Secret(tokens.get(email) ?? ""));
      const { data: seen } = (await user.get("/api/svc/v1/teams/user")).body;
      return [seen.length, (await user.get("/api/svc/v1/clusters/c1x")).status];
    };
    expect(await seenBy(first, "ada@example.com")).toEqual([1, 200]);
    expect(await seenBy(first, "bob@example.com")).toEqual([1, 404]);
    await first.close();
    for (const change of [
      "UPDATE team_members SET member = 'Ada@Example.com' WHERE member = 'ada@example.com'",
      "INSERT INTO team_members VALUES ('ml', 'Bob@example.com', 'member')",
      "UPDATE grants SET subject = 'user:ADA@example.com' WHERE subject = 'user:ada@example.com'",
      "DELETE FROM kysely_migration WHERE name >= '0091'",
    ]) {
      await statement(data, change);
    }
    const plane = await startControlPlane({ data });
    const { admin } = plane;
    expect(await statement(data, "SELECT member FROM team_members ORDER BY member")).toEqual([
      { member: "ada@example.com" },
      { member: "bob@example.com" },
    ]);
    expect(await seenBy(plane, "ada@example.com")).toEqual([1, 200]);

    const subject = "user:ADA@Example.com";
    expect((await admin.get(`${users}?subject=${subject}`)).body.pagination.total).toBe(1);
    expect((await admin.post("/api/svc/v1/subjects/disable", { subject })).status).toBe(200);
    expect((await admin.put(users, ada)).body).toMatchObject({ code: "disabled" });
    expect((await admin.get("/api/svc/v1/audit?subject=user:ADMIN&limit=1")).body.data).toHaveLength(1);
  });

  test("is listed in pages and by subject, for tenant-admins alone", async () => {
    const plane = await startControlPlane();
    const { admin } = plane;
    for (const name of ["a", "b", "c"]) await admin.put(users, { email: `${name}@example.com` });
    const page = (await admin.get(`${users}?limit=2&offset=1`)).body;
    expect(page.data).toHaveLength(2);
    expect(page.pagination).toEqual({ total: 4, offset: 1, limit: 2 });
    const of = async (subject: string) =>
      (await admin.get(`${users}?subject=${encodeURIComponent(subject)}`)).body.data.map(
        (user: { readonly subject: string }) => user.subject,
      );
    expect(await of("user:b@example.com")).toEqual(["user:b@example.com"]);
    expect(await of("user:admin")).toEqual(["user:admin"]);
    expect(await of("b@example.com")).toEqual([]);
    const other = await addUser(plane, "other@example.com");
    for (const { status } of [await other.get(users), await other.put(users, ada)]) expect(status).toBe(403);
  });

  test("has no token here when it signs in through the issuer, and keeps its way until it is removed", async () => {
    const { admin, data } = await startControlPlane();
    const added = (await admin.put(users, { ...ada, signIn: "issuer" })).body;
    expect(added).toMatchObject({ created: true, data: { signIn: "issuer" } });
    expect(added).not.toHaveProperty("token");
    expect((await admin.put(users, ada)).body).toEqual({ data: added.data, created: false });
    expect(await statement(data, "SELECT * FROM tokens WHERE user_id <> 'admin'")).toEqual([]);
    const other = await admin.put(users, { ...ada, signIn: "token" });
    expect(other).toMatchObject({ status: 409, body: { code: "user-exists" } });
  });

  test("is one row when two tenant-admins add it at once", async () => {
    const { admin } = await startControlPlane();
    const replies = await Promise.all(Array.from({ length: 8 }, () => admin.put(users, ada)));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(replies.filter(({ body }) => body.token !== undefined)).toHaveLength(1);
    expect((await admin.get(users)).body.pagination.total).toBe(2);
  });
});

describe("a user that is removed", () => {
  test("loses all tokens at once, and gets nothing of before when it is added again", async () => {
    const { admin, url, data } = await startControlPlane();
    const added = (await admin.put(users, ada)).body;
    const user = caller(url, new Secret(added.token));
    const personal = caller(url, new Secret((await user.get(mine)).body.token));
    expect((await personal.get(me)).body.data).toMatchObject({ subject: "user:ada@example.com" });
    const removed = (await admin.put(users, { ...ada, remove: true })).body;
    expect(removed).toEqual({
      data: { ...added.data, state: "removed", removedAt: expect.any(String) },
      created: false,
    });
    for (const one of [user, personal]) expect((await one.get(me)).status).toBe(401);
    const before = await effects(data);
    expect(before.at(-1)).toBe("user:admin E17 removed-user/ada@example.com");
    const about = (await admin.get("/api/svc/v1/audit?resource=user%2Fada%40example.com&limit=1")).body.data;
    expect(about).toMatchObject([{ resource: "removed-user/ada@example.com" }]);
    // A repeated call changes nothing.
    expect((await admin.put(users, { ...ada, remove: true })).body).toEqual(removed);
    expect(await effects(data)).toEqual(before);
    const again = (await admin.put(users, ada)).body;
    expect(again).toMatchObject({ created: true, data: { state: "active" } });
    expect(again.data.id).not.toBe(added.data.id);
    for (const one of [user, personal]) expect((await one.get(me)).status).toBe(401);
    expect((await caller(url, new Secret(again.token)).get(me)).status).toBe(200);
    expect((await admin.get("/api/svc/v1/personal-access-tokens")).body.data).toEqual([]);
  });

  test("is one that exists, and not the administrator", async () => {
    const { admin } = await startControlPlane();
    expect((await admin.put(users, { email: "nobody@example.com", remove: true })).status).toBe(404);
    expect((await admin.put(users, { email: "admin", remove: true })).status).toBe(400);
    // The refusal says whom it was about.
    await expect
      .poll(async () => (await admin.get("/api/svc/v1/audit?resource=users/nobody@example.com")).body.data.length, {
        timeout: 30_000,
      })
      .toBe(1);
  });
});

test("a user whose token was revoked gets another one, and one that is disabled none", async () => {
  const { admin, url, data } = await startControlPlane();
  const first = (await admin.put(users, ada)).body;
  const database = await databaseOf(data);
  const beside = {
    ...machine,
    data,
    log: createLog({ level: "silent" }),
    ...(database && { database: new Secret(database) }),
  };
  await revokeInDatabase(beside, ["user:ada@example.com"]);
  const user = caller(url, new Secret(first.token));
  await eventually("it is revoked", async () => (await user.get(me)).status === 401);
  const second = (await admin.put(users, ada)).body;
  expect(second).toEqual({ data: first.data, token: expect.any(String), created: false });
  expect((await user.get(me)).status).toBe(401);
  expect((await caller(url, new Secret(second.token)).get(me)).status).toBe(200);
  await admin.post("/api/svc/v1/subjects/disable", { subject: "user:ada@example.com" });
  expect(await admin.put(users, ada)).toMatchObject({ status: 409, body: { code: "disabled" } });
  expect((await admin.get(`${users}?subject=user%3Aada%40example.com`)).body.data).toMatchObject([
    { state: "disabled" },
  ]);
});
