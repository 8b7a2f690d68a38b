import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { addUser, type Caller, effects, startControlPlane } from "../control-plane.ts";
import { plantWorkspace, service } from "./platform.ts";

const GROUPS = "/api/svc/v1/secret-groups";
const VALUE = "canary-9f2c1e-value";

const group = (secrets: readonly unknown[] = [{ key: "db", value: VALUE }], more = {}) => ({
  name: "platform",
  integrationId: "builtin",
  secrets,
  ...more,
});

const pointers = ({ details = [] }: { details?: readonly { pointer: string }[] }) =>
  details.map(({ pointer }) => pointer);

const secretIds = async (admin: Caller): Promise<readonly string[]> =>
  (await admin.get(GROUPS)).body.data.flatMap(({ associatedSecrets }: { associatedSecrets: { id: string }[] }) =>
    associatedSecrets.map(({ id }) => id),
  );

describe("a secret group", () => {
  test("is created with version 1 of each secret, and shows no value", async () => {
    const { admin } = await startControlPlane();
    const { status, text, body } = await admin.post(
      GROUPS,
      group([
        { key: "db", value: VALUE },
        { key: "a.b-c_1", value: "x" },
      ]),
    );
    expect(status).toBe(200);
    expect(text).not.toContain(VALUE);
    expect(text).not.toContain('"value"');
    expect(body.data).toMatchObject({
      fqn: "holdfast:platform",
      name: "platform",
      tenantName: "holdfast",
      integrationId: "builtin",
      manifest: { name: "platform" },
      createdBySubject: { subjectType: "user" },
    });
    const [first, second] = body.data.associatedSecrets;
    expect(first.name).toBe("a.b-c_1");
    expect(second).toMatchObject({
      fqn: "holdfast:platform:db",
      secretGroupId: body.data.id,
      activeDeploymentsCount: 0,
      secretVersions: [{ version: 1, fqn: "holdfast:platform:db:1", secretId: second.id }],
    });
    const listed = await admin.get(GROUPS);
    expect(listed.body.data).toEqual([body.data]);
    expect(listed.text).not.toContain('"value"');
    expect((await admin.get(`${GROUPS}?fqn=holdfast:platform`)).body.pagination.total).toBe(1);
    expect((await admin.get(`${GROUPS}?fqn=holdfast:platfor_`)).body.pagination.total).toBe(0);
  });

  test("may be empty, and has its name alone", async () => {
    const { admin, data } = await startControlPlane();
    expect((await admin.post(GROUPS, group([]))).body.data.associatedSecrets).toEqual([]);
    const again = await admin.post(GROUPS, group());
    expect(again.body).toMatchObject({ statusCode: 409, code: "name-taken" });
    expect(await effects(data)).toEqual(["user:admin 4 secret-group/platform"]);
  });

  test("is refused for every fault at once, without a word of the values", async () => {
    const { admin, data } = await startControlPlane();
    const bad = [
      { key: "a b", value: VALUE },
      { key: "ok", value: "" },
      { key: "ok", value: VALUE },
      { key: "x".repeat(129), value: VALUE },
    ];
    const { status, body, text } = await admin.post(GROUPS, group(bad, { name: "no group" }));
    expect(status).toBe(422);
    expect(pointers(body)).toEqual(["/name", "/secrets/0/key", "/secrets/1/value", "/secrets/2/key", "/secrets/3/key"]);
    expect(text).not.toContain(VALUE);
    expect(pointers((await admin.post(GROUPS, group([], { integrationId: "vault" }))).body)).toEqual([
      "/integrationId",
    ]);
    expect(await effects(data)).toEqual([]);
  });

  test("has versions that tell their secret, but for its value and versions", async () => {
    const { admin } = await startControlPlane();
    const [secret] = (await admin.post(GROUPS, group())).body.data.associatedSecrets;
    const { secretVersions, ...members } = secret;
    expect(secretVersions[0].secret).toEqual({ ...members, updatedAt: secretVersions[0].updatedAt });
  });

  test("is a request of the wrong form when a member is missing or of another kind", async () => {
    const { admin } = await startControlPlane();
    const bad = [
      { name: "g", integrationId: "builtin" },
      { name: "g", secrets: [] },
      group(["db"]),
      group([{ key: "db" }]),
      group([{ key: "db", value: 1 }]),
      group([{ key: "db", value: VALUE, note: "n" }]),
      group([null]),
      group([], { manifest: {} }),
      group([], { secrets: {} }),
    ];
    for (const body of bad) {
      const reply = await admin.post(GROUPS, body);
      expect([reply.status, reply.text.includes(VALUE)]).toEqual([400, false]);
    }
  });

  test("counts the applications whose active deployment uses its secrets", async () => {
    const { admin } = await startControlPlane();
    await admin.post(GROUPS, group());
    await plantWorkspace(admin);
    const mounts = [{ type: "secret", mount_path: "/etc/db", secret_fqn: "holdfast:platform:db" }];
    const env = { URL: "postgres://u:acme-secret://holdfast:platform:db@host" };
    const put = (manifest: object) => admin.put("/api/svc/v1/apps", { manifest: { ...service, ...manifest } });
    const count = async () => (await admin.get(GROUPS)).body.data[0].associatedSecrets[0].activeDeploymentsCount;
    expect((await put({ mounts })).status).toBe(200);
    expect((await put({ name: "api2", env })).status).toBe(200);
    expect(await count()).toBe(2);
    await put({});
    expect(await count()).toBe(1);
    const dangling = await put({ env: { A: "secret://holdfast:platform:absent" } });
    expect(pointers(dangling.body)).toEqual(["/env/A"]);
  });
});

describe("a secret's value", () => {
  test("is read by its id alone, and every read is recorded", async () => {
    const { admin, data } = await startControlPlane();
    await admin.post(GROUPS, group());
    const [id = ""] = await secretIds(admin);
    const { status, body } = await admin.get(`/api/svc/v1/secrets/${id}`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id, value: VALUE, secretVersions: [{ version: 1, value: VALUE }] });
    expect((await admin.get("/api/svc/v1/secrets/absent")).status).toBe(404);
    expect((await effects(data)).slice(1)).toEqual(["user:admin S1 secret/holdfast:platform:db"]);
  });

  test("S85 is the newest alone, and former values are in no reply", async () => {
    const { admin } = await startControlPlane();
    const put = (value: string) =>
      admin.put(GROUPS, { manifest: { type: "secret-group", name: "g", secrets: [{ key: "k", value }] } });
    for (const value of ["CANARY-first", "CANARY-second", "CANARY-newest"]) expect((await put(value)).status).toBe(200);
    const [id = ""] = await secretIds(admin);
    const { text, body } = await admin.get(`/api/svc/v1/secrets/${id}`);
    expect(body.data.value).toBe("CANARY-newest");
    expect(body.data.secretVersions.map(({ version }: { version: number }) => version)).toEqual([3, 2, 1]);
    expect(new Set(text.match(/CANARY-\w+/g))).toEqual(new Set(["CANARY-newest"]));
  });

  test("is the tenant administrator's to see, and to write", async () => {
    const plane = await startControlPlane();
    await plane.admin.post(GROUPS, group());
    const [id] = await secretIds(plane.admin);
    const stranger = await addUser(plane, "eve@example.com");
    expect((await stranger.get(`/api/svc/v1/secrets/${id}`)).body).toEqual(
      (await plane.admin.get("/api/svc/v1/secrets/absent")).body,
    );
    expect((await stranger.get(GROUPS)).body.pagination.total).toBe(0);
    expect((await stranger.post(GROUPS, group([], { name: "other" }))).status).toBe(403);
    // Whether the name is taken is not told to one who may not write it.
    expect((await stranger.post(GROUPS, group())).status).toBe(403);
  });

  test("is on the disk in no readable form, and survives a restart", async () => {
    const first = await startControlPlane();
    await first.admin.post(GROUPS, group());
    const [id] = await secretIds(first.admin);
    const files = await readdir(first.data, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const bytes = await readFile(join(file.parentPath, file.name));
      for (const form of [VALUE, Buffer.from(VALUE).toString("base64"), Buffer.from(VALUE).toString("hex")])
        expect(bytes.includes(form)).toBe(false);
    }
    await first.close();
    const second = await startControlPlane({ data: first.data });
    expect((await second.admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value).toBe(VALUE);
  });
});
