import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { kill, serveApart } from "../support/serve-apart.ts";
import { statement } from "../support/test-database.ts";
import { cluster, plantWorkspace, service, workspace } from "./platform.ts";

type Plane = Awaited<ReturnType<typeof startControlPlane>>;
type Sending = { readonly method?: string; readonly headers?: Record<string, string>; readonly token?: Secret };

/** Sends a write with headers of its own. */
async function send(
  { url, adminToken }: Pick<Plane, "url" | "adminToken">,
  path: string,
  body: unknown,
  sending: Sending = {},
) {
  const { method = "PUT", headers = {}, token = adminToken } = sending;
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token.open()}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
}

const accounts = "/api/svc/v1/virtual-accounts";
const groups = "/api/svc/v1/secret-groups";
const apps = "/api/svc/v1/apps";
const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }],
};
const withKey = (key: string) => ({ headers: { "idempotency-key": key } });

test("a write with a key is made once, and every repetition gets its first reply, token included", async () => {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  const before = (await effects(plane.data)).length;
  const writes = [
    [accounts, { manifest: account }, "PUT"],
    [groups, { name: "g", integrationId: "builtin", secrets: [{ key: "k", value: "CANARY-value" }] }, "POST"],
    [apps, { manifest: service }, "PUT"],
    ["/api/svc/v1/personal-access-tokens/mine", undefined, "GET"],
  ] as const;
  for (const [path, body, method] of writes) {
    const sending = { ...withKey(randomUUID()), method };
    const first = await send(plane, path, body, sending);
    const again = await send(plane, path, body, sending);
    expect([path, first.status, again.status]).toEqual([path, 200, 200]);
    expect(again.text).toBe(first.text);
    expect(first.headers.get("idempotency-key-accepted")).toBe("true");
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(again.headers.get("idempotency-replayed")).toBe("true");
  }
  expect(await effects(plane.data)).toHaveLength(before + writes.length);
});

test("a reply survives a restart, and the token in it still counts", async () => {
  const first = await startControlPlane();
  const sending = withKey(randomUUID());
  const { text, body } = await send(first, accounts, { manifest: account }, sending);
  await first.close();
  const second = await startControlPlane({ data: first.data });
  expect((await send(second, accounts, { manifest: account }, sending)).text).toBe(text);
  expect((await caller(second.url, new Secret(body.token)).get("/api/svc/v1/workspaces")).status).toBe(200);
});

test("a lasting refusal is replayed, a passing one is not", async () => {
  const plane = await startControlPlane();
  await plantWorkspace(plane.admin);
  const orphan = { manifest: { ...service, workspace_fqn: "c1x:later" } };
  const lasting = withKey(randomUUID());
  expect((await send(plane, apps, orphan, lasting)).status).toBe(422);
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, name: "later" } });
  const replayed = await send(plane, apps, orphan, lasting);
  expect(replayed).toMatchObject({ status: 422, body: { code: "unprocessable" } });
  expect(replayed.headers.get("idempotency-replayed")).toBe("true");
  expect((await send(plane, apps, orphan, withKey(randomUUID()))).status).toBe(200);

  const passing = withKey(randomUUID());
  const group = { name: "g", integrationId: "builtin", secrets: [] };
  await plane.admin.post(groups, group);
  const conflicting = { ...passing, method: "POST" };
  expect((await send(plane, groups, group, conflicting)).status).toBe(409);
  await statement(plane.data, "DELETE FROM secret_groups", []);
  expect((await send(plane, groups, group, conflicting)).status).toBe(200);
});

test("F70 the same key with another body is 422, of another caller or to another path its own affair", async () => {
  const plane = await startControlPlane();
  const key = randomUUID();
  expect((await send(plane, accounts, { manifest: account }, withKey(key))).body.token).toBeDefined();
  const other = await send(plane, accounts, { manifest: { ...account, name: "other" } }, withKey(key));
  expect(other).toMatchObject({ status: 422, body: { code: "idempotency-key-reused" } });
  // Neither the order of keys nor the white space makes another body.
  const reordered = { manifest: Object.fromEntries(Object.entries(account).toReversed()) };
  expect((await send(plane, accounts, reordered, withKey(key))).status).toBe(200);
  expect((await send(plane, "/api/svc/v1/clusters", { manifest: cluster }, withKey(key))).status).toBe(200);
  const path = "/api/svc/v1/personal-access-tokens/";
  const mine = await send(plane, `${path}a`, undefined, { method: "GET", ...withKey(key) });
  expect((await send(plane, `${path}b`, undefined, { method: "GET", ...withKey(key) })).body.data.name).toBe("b");
  const { body } = await send(plane, accounts, { manifest: account }, withKey(key));
  const hers = await send(plane, `${path}a`, undefined, {
    method: "GET",
    token: new Secret(body.token),
    ...withKey(key),
  });
  expect(hers.body).toMatchObject({ created: true });
  expect(hers.body.token).not.toBe(mine.body.token);
});

test("of many requests with one key at once, one has its effect, the others are refused or get its reply", async () => {
  const plane = await startControlPlane();
  const sending = withKey(randomUUID());
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => send(plane, accounts, { manifest: account }, sending)),
  );
  const tokens = new Set(replies.flatMap(({ body }) => (body.token === undefined ? [] : [body.token])));
  expect(tokens.size).toBe(1);
  for (const { status, body, headers } of replies) {
    if (status === 200) continue;
    expect({ status, code: body.code }).toEqual({ status: 409, code: "idempotency-key-in-flight" });
    expect(headers.get("retry-after")).toBe("1");
  }
  expect((await effects(plane.data)).filter((effect) => effect.includes("virtual-account"))).toHaveLength(1);
});

test("a malformed key or number is 400, whatever the operation would say", async () => {
  const plane = await startControlPlane();
  for (const headers of [
    { "idempotency-key": "short" },
    { "idempotency-key": "x".repeat(256) },
    { "idempotency-key": "with a space in it." },
    { "x-fencing-token": "-1" },
    { "x-fencing-token": "1.5" },
    { "x-fencing-token": "9007199254740992" },
    { "x-fencing-token": "" },
    { "x-fencing-scope": "main" },
    { "x-fencing-token": "1", "x-fencing-scope": "a b" },
  ] as const) {
    const reply = await send(plane, "/api/svc/v1/clusters", { manifest: cluster }, { headers });
    expect([headers, reply.status]).toEqual([headers, 400]);
  }
  // Reads know nothing of them.
  const read = { method: "GET", headers: { "idempotency-key": "short" } };
  expect((await send(plane, "/api/svc/v1/clusters", undefined, read)).status).toBe(200);
  expect(await effects(plane.data)).toEqual([]);
});

test("a dry run keeps nothing, and no number fences it", async () => {
  const plane = await startControlPlane();
  const key = randomUUID();
  const headers = { ...withKey(key).headers, "x-fencing-token": "9" };
  const dryRun = await send(plane, accounts, { manifest: account, dryRun: true }, { headers });
  expect(dryRun).toMatchObject({ status: 200, body: { data: { name: "ci" } } });
  expect(dryRun.body.data).not.toHaveProperty("id");
  expect((await send(plane, accounts, { manifest: account }, withKey(key))).body.token).toBeDefined();
});

test("who has lost the right gets no replay", async () => {
  const plane = await startControlPlane();
  await plane.admin.put("/api/svc/v1/clusters", { manifest: cluster });
  const collaborators = [{ subject: "user:dev@example.com", role_id: "workspace-editor" }];
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators } });
  await addUser(plane, "dev@example.com");
  const sending = { ...withKey(randomUUID()), token: new Secret("token-of-dev-at-example.com") };
  expect((await send(plane, apps, { manifest: service }, sending)).status).toBe(200);
  const viewing = [{ subject: "user:dev@example.com", role_id: "workspace-viewer" }];
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators: viewing } });
  expect((await send(plane, apps, { manifest: service }, sending)).status).toBe(403);
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: workspace });
  expect((await send(plane, apps, { manifest: service }, sending)).status).toBe(422);
  await plane.admin.put("/api/svc/v1/workspaces", { manifest: { ...workspace, collaborators } });
  expect((await send(plane, apps, { manifest: service }, sending)).body.data.version).toBe(1);
});

test("a replay of a staged version leaves no second folder behind", async () => {
  const plane = await startControlPlane();
  await plane.admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "repo" } });
  const path = "/api/ml/v1/artifact-versions/stage";
  const body = { manifest: { type: "model-version", name: "m", ml_repo: "repo" } };
  const sending = { method: "POST", ...withKey(randomUUID()) };
  const first = await send(plane, path, body, sending);
  expect((await send(plane, path, body, sending)).text).toBe(first.text);
  expect(await readdir(join(plane.data, "artifacts"))).toEqual([first.body.id]);
});

test("S34 the database gives neither key nor token, and the audit tells under which key and number", async () => {
  const plane = await startControlPlane();
  const key = `CANARY-${randomUUID()}`;
  await plane.admin.put("/api/svc/v1/leases/holdfast", { holder: "a", ttlSeconds: 60 });
  const headers = { ...withKey(key).headers, "x-fencing-token": "1" };
  const { body } = await send(plane, accounts, { manifest: account }, { headers });
  const tables = ["kept_replies", "audit", "leases", "virtual_accounts", "jwts"];
  const rows = await Promise.all(tables.map((table) => statement(plane.data, `SELECT * FROM ${table}`, [])));
  const dump = JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value));
  expect(dump).not.toContain(key);
  expect(dump).not.toContain(body.token);
  const sealed = (await statement(plane.data, "SELECT sealed FROM kept_replies", [])).map((row) => String(row.sealed));
  expect(Buffer.from(sealed[0] ?? "", "base64").toString("latin1")).not.toContain(body.token);
  const audit = await statement(
    plane.data,
    "SELECT key_hash, fencing_number FROM audit WHERE outcome = 'done' AND operation = '18'",
    [],
  );
  expect(audit).toHaveLength(1);
  expect(audit[0]?.key_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(Number(audit[0]?.fencing_number)).toBe(1);
});

test("after a day a key is new again", async () => {
  const plane = await startControlPlane();
  const sending = withKey(randomUUID());
  expect((await send(plane, accounts, { manifest: account }, sending)).body.token).toBeDefined();
  await statement(plane.data, "UPDATE kept_replies SET kept_until = 0", []);
  const late = await send(plane, accounts, { manifest: { ...account, ownedBy: { account: "x" } } }, sending);
  expect(late.status).toBe(200);
  expect(late.headers.get("idempotency-replayed")).toBeNull();
  expect(late.body.token).toBeUndefined();
});

test("F69 after kill -9, every write under a key is made once, and its reply with the token can be had", async () => {
  const data = await temporaryFolder();
  const { child, url, token } = await serveApart(data);
  const keys = new Map<string, string>();
  let answered = 0;
  const put = (at: Pick<Plane, "url" | "adminToken">, name: string, key: string) =>
    send(at, accounts, { manifest: { ...account, name } }, withKey(key));
  const writing = Promise.allSettled(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let nth = 0; ; nth += 1) {
        const [name, key] = [`account-${writer}-${nth}`, randomUUID()];
        keys.set(name, key);
        await put({ url, adminToken: token }, name, key);
        answered += 1;
      }
    }),
  );
  await expect.poll(() => answered, { timeout: 60_000, interval: 1 }).toBeGreaterThan(30);
  await kill(child);
  await writing;

  const again = await startControlPlane({ data });
  let replayed = 0;
  for (const [name, key] of keys) {
    const { status, body, headers } = await put(again, name, key);
    expect([name, status, typeof body.token]).toEqual([name, 200, "string"]);
    if (headers.get("idempotency-replayed") === "true") replayed += 1;
  }
  // What was answered before the end was committed before.
  expect(replayed).toBeGreaterThanOrEqual(answered);
  const made = (await effects(data)).filter((effect) => effect.includes("virtual-account/"));
  expect(new Set(made).size).toBe(keys.size);
  expect(made).toHaveLength(keys.size);
});
