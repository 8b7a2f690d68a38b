import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";

const accounts = "/api/svc/v1/virtual-accounts";
const disable = "/api/svc/v1/subjects/disable";
const me = "/api/svc/v1/me";
const mine = "/api/svc/v1/personal-access-tokens/mine";

const manifest = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-admin" }],
  auto_rotate: { auto_rotate_interval: 30, grace_period: 1 },
  secret_store_config: { integration_fqn: "builtin", secret_path: "machines/ci" },
};

describe("a virtual account that is disabled", () => {
  test("loses its tokens at once, and never gets one again", async () => {
    const { admin, url, data, close } = await startControlPlane();
    const token = new Secret((await admin.put(accounts, { manifest })).body.token);
    const robot = caller(url, token);
    const personal = caller(url, new Secret((await robot.get(mine)).body.token));
    expect((await admin.post(disable, { subject: "virtualaccount:ci" })).body).toEqual({});
    for (const one of [robot, personal]) expect((await one.get(me)).status).toBe(401);
    const [account] = (await admin.get(accounts)).body.data;
    expect(account).toMatchObject({ manifest, jwts: [], metadata: { disabled: account.updatedAt } });
    for (const body of [
      { manifest },
      { manifest, dryRun: true },
      { manifest: { ...manifest, expiration_date: "2030-01-01" } },
    ]) {
      const refused = { status: 409, body: { code: "disabled", message: "virtualaccount:ci is disabled for good" } };
      expect(await admin.put(accounts, body)).toMatchObject(refused);
    }
    const before = await effects(data);
    expect(before.at(-1)).toBe("user:admin E16 disabled-subject/virtualaccount:ci");
    // A repeated call changes nothing.
    expect((await admin.post(disable, { subject: "virtualaccount:ci" })).status).toBe(200);
    expect(await effects(data)).toEqual(before);
    await close();
    // Neither a revocation nor a seed that declares it gives it a token.
    const seed = await temporaryFolder();
    await writeFile(join(seed, "ci.yaml"), JSON.stringify(manifest));
    const again = await startControlPlane({ data, seed, revoke: ["virtualaccount:ci"] });
    const [same] = (await again.admin.get(accounts)).body.data;
    expect(same).toMatchObject({ jwts: [], metadata: account.metadata });
  });
});

describe("a user that is disabled", () => {
  test("loses its tokens at once, and no other user does", async () => {
    const plane = await startControlPlane();
    const { admin, data, url } = plane;
    const dev = await addUser(plane, "dev@example.com");
    const personal = caller(url, new Secret((await dev.get(mine)).body.token));
    const other = await addUser(plane, "ada@example.com");
    expect((await other.post(disable, { subject: "user:dev@example.com" })).status).toBe(403);
    expect((await admin.post(disable, { subject: "user:dev@example.com" })).status).toBe(200);
    for (const one of [dev, personal]) expect((await one.get(me)).status).toBe(401);
    expect((await other.get(me)).status).toBe(200);
    expect((await effects(data)).at(-1)).toBe("user:admin E16 disabled-subject/user:dev@example.com");
  });

  test("is one that exists, and not the administrator", async () => {
    const { admin } = await startControlPlane();
    for (const subject of ["user:nobody", "virtualaccount:ci", "team:ml", "ci"]) {
      expect([subject, (await admin.post(disable, { subject })).status]).toEqual([subject, 404]);
    }
    expect(await admin.post(disable, { subject: "user:admin" })).toMatchObject({
      status: 409,
      body: { code: "administrator" },
    });
  });
});
