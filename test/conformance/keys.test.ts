import { randomBytes } from "node:crypto";
import { chmod, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeProtectedHeader } from "jose";
import { expect, onTestFinished, test, vi } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { seal } from "../../src/seal/seal.ts";
import { parseKey } from "../../src/seal/seal-key.ts";
import { createSigningKey, signToken } from "../../src/server/auth/jwt.ts";
import { revokeInDatabase } from "../../src/server/offline-admin.ts";
import { type Caller, caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { keptLog } from "../support/kept-log.ts";
import { machine } from "../support/machine.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const accounts = "/api/svc/v1/virtual-accounts";
const workspaces = "/api/svc/v1/workspaces";
const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-admin" }],
};
const newKey = () => randomBytes(32).toString("base64");

async function makeSecret(admin: Caller): Promise<string> {
  const secrets = [{ key: "k", value: "CANARY-value" }];
  const { body } = await admin.post("/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets });
  return body.data.associatedSecrets[0].id;
}

const valueIn = async (admin: Caller, id: string) => (await admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value;

/** The versions of the keys that something is sealed with, as the database has them. */
async function versionsOf(data: string): Promise<readonly string[]> {
  const rows = await statement(data, "SELECT version FROM server_keys ORDER BY version");
  return rows.map(({ version }) => String(version));
}

test("S35 a new key takes over while the server runs, and the old one is no longer needed", async () => {
  const { log, entries } = keptLog();
  const plane = await startControlPlane({ log, fileCheckSeconds: 0.05 });
  const { admin, data } = plane;
  const id = await makeSecret(admin);
  const { token } = (await admin.put(accounts, { manifest: account })).body;
  const file = join(data, "server-key");
  const [old, fresh] = [(await readFile(file, "utf8")).trim(), newKey()];
  const sealed = () => statement(data, "SELECT sealed FROM secret_versions");
  const before = await sealed();
  await writeFile(file, `${fresh}\n${old}\n`);
  await expect.poll(() => versionsOf(data), { interval: 20, timeout: 60_000 }).toEqual([parseKey(fresh).version]);
  expect(await sealed()).not.toEqual(before);
  await writeFile(file, `${fresh}\n`);
  expect(await valueIn(admin, id)).toBe("CANARY-value");
  await plane.close();
  const [{ version: from }, { version: to }] = [parseKey(old), parseKey(fresh)];
  expect(entries().filter(({ event }) => event.startsWith("key-"))).toEqual([
    expect.objectContaining({ event: "key-replaced", key: to }),
    expect.objectContaining({ event: "key-rotated", key: to, former: [from] }),
  ]);
  const again = await startControlPlane({ data });
  expect(await valueIn(again.admin, id)).toBe("CANARY-value");
  expect((await caller(again.url, new Secret(token)).get(workspaces)).status).toBe(200);
});

test("a key file that lacks a needed key, or is none, changes nothing while the server runs", async () => {
  const { admin, data } = await startControlPlane({ fileCheckSeconds: 0.02 });
  const id = await makeSecret(admin);
  const before = await versionsOf(data);
  for (const text of [newKey(), "no key", ""]) {
    await writeFile(join(data, "server-key"), text);
    await makeGroup(admin);
    await makeGroup(admin);
    expect(await versionsOf(data)).toEqual(before);
    expect(await valueIn(admin, id)).toBe("CANARY-value");
  }
});

async function makeGroup(admin: Caller): Promise<void> {
  const name = `g${randomBytes(4).toString("hex")}`;
  const secrets = [{ key: "k", value: "v" }];
  const { body } = await admin.post("/api/svc/v1/secret-groups", { name, integrationId: "builtin", secrets });
  expect(await valueIn(admin, body.data.associatedSecrets[0].id)).toBe("v");
}

test("F71 a wrong or missing key is refused at start, and nothing is put in its place", async () => {
  const first = await startControlPlane();
  const { data } = first;
  const id = await makeSecret(first.admin);
  await first.close();
  const file = join(data, "server-key");
  const right = await readFile(file, "utf8");
  const wrong = newKey();
  await writeFile(file, wrong);
  const needed = parseKey(right).version;
  await expect(startControlPlane({ data })).rejects.toThrow(`sealed with another key: give the one`);
  await expect(startControlPlane({ data })).rejects.toThrow(needed);
  expect(await readFile(file, "utf8")).toBe(wrong);
  await rm(file);
  await expect(startControlPlane({ data })).rejects.toThrow(`${file}: there is no key: give the one`);
  expect(await readdir(data)).not.toContain("server-key");
  await expect(startControlPlane({ data, serverKey: new Secret(newKey()) })).rejects.toThrow("another key");
  const again = await startControlPlane({ data, serverKey: new Secret(right) });
  expect(await valueIn(again.admin, id)).toBe("CANARY-value");
});

test("a key comes from the environment, or from a file of the operator's, and then none is made", async () => {
  const key = newKey();
  const named = join(await temporaryFolder(), "mounted");
  await expect(startControlPlane({ serverKeyFile: named })).rejects.toThrow(`${named}: there is no key`);
  await writeFile(named, key, { mode: 0o440 });
  const first = await startControlPlane({ serverKeyFile: named });
  const id = await makeSecret(first.admin);
  expect(await readdir(first.data)).not.toContain("server-key");
  await first.close();
  await chmod(named, 0o444);
  await expect(startControlPlane({ data: first.data, serverKeyFile: named })).rejects.toThrow("others can read");
  const second = await startControlPlane({ data: first.data, serverKey: new Secret(`${newKey()}, ${key}`) });
  expect(await valueIn(second.admin, id)).toBe("CANARY-value");
});

test("new tokens are signed with a new key, and those of the former key still count", async () => {
  const first = await startControlPlane();
  const { token: former } = (await first.admin.put(accounts, { manifest: account })).body;
  await first.close();
  const second = await startControlPlane({ data: first.data, renewSigningKey: true });
  const { token } = (await second.admin.put(accounts, { manifest: { ...account, name: "other" } })).body;
  expect(decodeProtectedHeader(token).kid).not.toBe(decodeProtectedHeader(former).kid);
  for (const one of [former, token]) {
    expect((await caller(second.url, new Secret(one)).get(workspaces)).status).toBe(200);
  }
});

test("a signing key grows old: the next one signs, and the last token ends its key", async () => {
  const first = await startControlPlane();
  const { data } = first;
  const { token } = (await first.admin.put(accounts, { manifest: account })).body;
  await first.close();
  const restarted = async () => {
    const plane = await startControlPlane({ data });
    const kids = () => statement(data, "SELECT kid FROM signing_keys");
    return { plane, kids };
  };
  await statement(data, "UPDATE signing_keys SET created_at = '2020-01-01T00:00:00.000Z'");
  const second = await restarted();
  await expect.poll(second.kids, { interval: 20 }).toHaveLength(2);
  expect((await caller(second.plane.url, new Secret(token)).get(workspaces)).status).toBe(200);
  await second.plane.close();
  const { kid } = decodeProtectedHeader(token);
  const lately = new Date(Date.now() - 2 * 86_400_000).toISOString();
  await statement(data, "UPDATE signing_keys SET created_at = ? WHERE kid <> ?", [lately, kid ?? ""]);
  await statement(data, "DELETE FROM jwts");
  const third = await restarted();
  await expect.poll(third.kids, { interval: 20 }).toHaveLength(1);
  expect((await caller(third.plane.url, new Secret(token)).get(workspaces)).status).toBe(401);
});

test("S32 a token is not accepted under another key than the one that signed it", async () => {
  const { admin, url, data, close } = await startControlPlane();
  const { data: made, token } = (await admin.put(accounts, { manifest: account })).body;
  await close();
  const { key, pkcs8 } = await createSigningKey();
  const server = parseKey(await readFile(join(data, "server-key"), "utf8"));
  const sealed = seal(server, pkcs8.open(), `signing-key:${key.kid}`).toString("base64");
  await statement(
    data,
    "INSERT INTO signing_keys (kid, sealed, created_at) VALUES (?, ?, '2020-01-01T00:00:00.000Z')",
    [key.kid, sealed],
  );
  const again = await startControlPlane({ data });
  const forged = await signToken(key, { jwtId: made.jwtId, accountId: made.id, name: "ci" }, Date.now());
  expect((await caller(again.url, forged).get(workspaces)).status).toBe(401);
  expect((await caller(again.url, new Secret(token)).get(workspaces)).status).toBe(200);
  expect(url).not.toBe(again.url);
});

test("S32 a token whose row is gone is void with the next request", async () => {
  const { admin, url, data } = await startControlPlane();
  const { token } = (await admin.put(accounts, { manifest: account })).body;
  const ci = caller(url, new Secret(token));
  expect((await ci.get(workspaces)).status).toBe(200);
  await statement(data, "DELETE FROM jwts");
  await expect.poll(async () => (await ci.get(workspaces)).status, { interval: 50, timeout: 60_000 }).toBe(401);
});

test("revoked tokens are void, and who has a secret store finds a new one there", async () => {
  const first = await startControlPlane();
  const { data, admin } = first;
  const stored = { ...account, name: "kept", secret_store_config: { integration_fqn: "builtin", secret_path: "g/t" } };
  const tokens = [
    (await admin.put(accounts, { manifest: account })).body.token,
    (await admin.put(accounts, { manifest: stored })).body.token,
    (await admin.get("/api/svc/v1/personal-access-tokens/mine")).body.token,
  ];
  const ci = caller(first.url, new Secret(tokens[0]));
  tokens.push((await ci.get("/api/svc/v1/personal-access-tokens/mine")).body.token);
  await first.close();

  await expect(startControlPlane({ data, revoke: ["virtualaccount:none"] })).rejects.toThrow('account "none"');
  await expect(startControlPlane({ data, revoke: ["team:x"] })).rejects.toThrow("no subject team:x");
  const before = (await effects(data)).length;
  const second = await startControlPlane({ data, revoke: ["virtualaccount:ci", "virtualaccount:kept", "user:admin"] });
  for (const token of tokens) expect((await caller(second.url, new Secret(token)).get(workspaces)).status).toBe(401);
  expect((await second.admin.get(workspaces)).status).toBe(200);
  expect((await effects(data)).slice(before)).toEqual([
    "revocation 18 virtual-account/ci",
    "revocation 18 virtual-account/kept",
    "revocation 7 personal-access-token/user:admin",
  ]);

  const groups = (await second.admin.get("/api/svc/v1/secret-groups")).body.data;
  const secret = groups[0].associatedSecrets[0];
  const fresh = await valueIn(second.admin, secret.id);
  expect((await caller(second.url, new Secret(fresh)).get(workspaces)).status).toBe(200);
  const listed = (await second.admin.get(accounts)).body.data;
  const bare = listed.find(({ name }: { readonly name: string }) => name === "ci");
  expect(bare).toMatchObject({ jwts: [] });
  expect(bare).not.toHaveProperty("jwtId");

  // With a place for it, the other one gets a new token too, which no reply shows.
  const placed = { ...account, secret_store_config: { integration_fqn: "builtin", secret_path: "g/ci" } };
  const reply = await second.admin.put(accounts, { manifest: placed });
  expect(reply.body.token).toBeUndefined();
  expect(reply.body.data.jwtId).toEqual(expect.any(String));
});

test("tokens that are revoked beside a running server are soon refused, and nobody else's", async () => {
  const { admin, url, data } = await startControlPlane();
  const made = async (name: string) => (await admin.put(accounts, { manifest: { ...account, name } })).body.token;
  const [lost, kept] = [caller(url, new Secret(await made("lost"))), caller(url, new Secret(await made("kept")))];
  const own = (await lost.get("/api/svc/v1/personal-access-tokens/mine")).body.token;
  const before = await effects(data);
  // Set back afterwards, which makes no token valid for longer.
  const { now } = Date;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000);
  onTestFinished(() => clock.mockRestore());
  for (const one of [lost, kept, caller(url, new Secret(own))]) expect((await one.get(workspaces)).status).toBe(200);
  clock.mockRestore();

  const database = await databaseOf(data);
  const beside = {
    ...machine,
    data,
    log: createLog({ level: "silent" }),
    ...(database && { database: new Secret(database) }),
  };
  await expect(revokeInDatabase(beside, ["virtualaccount:none"])).rejects.toThrow('account "none"');
  await revokeInDatabase(beside, ["virtualaccount:lost"]);
  for (const one of [lost, caller(url, new Secret(own))])
    await expect.poll(async () => (await one.get(workspaces)).status, { interval: 10, timeout: 60_000 }).toBe(401);
  expect((await kept.get(workspaces)).status).toBe(200);
  expect(await effects(data)).toEqual([...before, "revocation 18 virtual-account/lost"]);
  expect((await admin.get(accounts)).body.data).toHaveLength(2);
});

test("nothing is done beside a server whose release made another schema", async () => {
  const { data } = await startControlPlane();
  const database = await databaseOf(data);
  const beside = {
    ...machine,
    data,
    log: createLog({ level: "silent" }),
    ...(database && { database: new Secret(database) }),
  };
  const [last] = await statement(data, "SELECT name FROM kysely_migration ORDER BY name DESC");
  await statement(data, "DELETE FROM kysely_migration WHERE name = ?", [String(last?.name)]);
  await expect(revokeInDatabase(beside, ["user:admin"])).rejects.toMatchObject({ code: "older-schema" });
  await statement(data, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '')");
  await expect(revokeInDatabase(beside, ["user:admin"])).rejects.toMatchObject({ code: "newer-schema" });
  expect(await effects(data)).toEqual([]);
});
