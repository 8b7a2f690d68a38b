import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, type Caller, effects, startControlPlane } from "../control-plane.ts";
import { keptLog } from "../support/kept-log.ts";
import { statement } from "../support/test-database.ts";
import { cluster, service, workspace } from "./platform.ts";

type Plane = Awaited<ReturnType<typeof startControlPlane>>;

const svc = "/api/svc/v1";
const ml = "/api/ml/v1";
const everything = "holdfast";
const devToken = new Secret("token-of-dev-at-example.com");

/** Asks for a lease. */
const ask = (caller: Caller, scope: string, holder: string, more: object = {}) =>
  caller.put(`${svc}/leases/${encodeURIComponent(scope)}`, { holder, ttlSeconds: 60, ...more });

/** Takes a lease, and answers its number. */
async function take(caller: Caller, scope: string, holder = "a"): Promise<number> {
  const { status, body } = await ask(caller, scope, holder);
  expect([scope, holder, status]).toEqual([scope, holder, 200]);
  return body.data.fencingToken;
}

const release = (caller: Caller, scope: string, holder = "a") => ask(caller, scope, holder, { release: true });

type Fence = { readonly token: number | string; readonly scope?: string; readonly key?: string; readonly as?: Secret };

/** Sends a write under a fencing token. */
async function write(
  { url, adminToken }: Pick<Plane, "url" | "adminToken">,
  [method, path, body]: Write,
  { token, scope, key, as = adminToken }: Fence,
) {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${as.open()}`,
      ...(body !== undefined && { "content-type": "application/json" }),
      "x-fencing-token": String(token),
      ...(scope !== undefined && { "x-fencing-scope": scope }),
      ...(key !== undefined && { "idempotency-key": key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

type Write = readonly [method: string, path: string, body?: object];
const put = (path: string, manifest: object): Write => ["PUT", path, { manifest }];
const putCluster = (name = "c1x") => put(`${svc}/clusters`, { ...cluster, name });
const deploy = (fqn = "c1x:ws1") => put(`${svc}/apps`, { ...service, workspace_fqn: fqn });

/** A control plane with two clusters, a workspace on each, and a developer who may write the first workspace. */
async function planted(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options);
  const { admin } = plane;
  const collaborators = [{ subject: "user:dev@example.com", role_id: "workspace-editor" }];
  for (const name of ["c1x", "c2x"]) {
    await admin.put(`${svc}/clusters`, { manifest: { ...cluster, name } });
    await admin.put(`${svc}/workspaces`, { manifest: { ...workspace, cluster_fqn: name, collaborators } });
  }
  await admin.put(`${svc}/ml-repos`, { manifest: { type: "ml-repo", name: "r1" } });
  return { ...plane, dev: await addUser(plane, "dev@example.com") };
}

test("a lease has one holder; its number stays with it, and grows with every other one", async () => {
  const { admin, data } = await startControlPlane();
  const first = (await ask(admin, "main", "a")).body.data;
  expect(first).toEqual({ scope: "main", holder: "a", fencingToken: 1, expiresAt: expect.any(String) });
  const held = await ask(admin, "main", "b");
  expect(held).toMatchObject({ status: 409, body: { code: "lease-held" } });
  expect(held.body.message).toMatch(/^a has this lease until \d{4}-/);
  expect((await release(admin, "main", "b")).status).toBe(409);
  const renewed = (await ask(admin, "main", "a", { ttlSeconds: 120 })).body.data;
  expect(renewed.fencingToken).toBe(1);
  expect(renewed.expiresAt > first.expiresAt).toBe(true);
  const released = (await release(admin, "main")).body.data;
  expect(released.holder).toBe("a");
  expect(Date.parse(released.expiresAt)).toBeLessThanOrEqual(Date.now());
  expect((await release(admin, "main")).status).toBe(200);
  expect(await take(admin, "main", "b")).toBe(2);
  // What was given back is taken under a new number, whoever takes it.
  await release(admin, "main", "b");
  expect(await take(admin, "main", "b")).toBe(3);
  expect(await effects(data)).toEqual(Array.from({ length: 5 }, () => "user:admin E10 lease/main"));
});

test("a lease that ran out is free; its holder has its number again unless another one was there", async () => {
  const plane = await planted();
  const { admin, dev, data } = plane;
  const end = () => statement(data, "UPDATE leases SET expires_at = 1");
  expect(await take(admin, "c1x:ws1")).toBe(1);
  await end();
  expect(await take(admin, "c1x:ws1")).toBe(1);
  await end();
  // The same name of another caller is another holder.
  expect(await take(dev, "c1x:ws1")).toBe(2);
  expect((await ask(admin, "c1x:ws1", "a")).status).toBe(409);
  expect(await write(plane, deploy(), { token: 1, scope: "c1x:ws1" })).toMatchObject({
    status: 412,
    body: { code: "stale-fencing-token" },
  });
  expect((await write(plane, deploy(), { token: 2, scope: "c1x:ws1", as: devToken })).status).toBe(200);
});

test("a lease that ends later than any could, since the clock was set back, is cut to the maximum", async () => {
  const { log, entries } = keptLog();
  const { admin, data } = await startControlPlane({ maxLeaseSeconds: 60, log });
  expect(await take(admin, "main", "gone")).toBe(1);
  await statement(data, "UPDATE leases SET expires_at = ?", [Date.now() + 86_400_000]);
  const before = Date.now();
  const held = await ask(admin, "main", "b");
  expect(held.status).toBe(409);
  const end = Date.parse(held.body.message.replace("gone has this lease until ", ""));
  expect(end).toBeLessThanOrEqual(Date.now() + 61_000);
  expect(end).toBeGreaterThanOrEqual(before + 59_000);
  const isCut = ({ msg }: { msg: string }) => msg === "a lease ended later than the maximum allows and was cut";
  expect(entries().filter(isCut)).toEqual([expect.objectContaining({ level: "warn", scope: "main", holder: "gone" })]);
  // Its end stays: a holder that does not renew it is not waited for longer than that.
  expect((await ask(admin, "main", "b")).body.message).toBe(held.body.message);
});

test("F74 a lease excludes those of other holders above it and below it, however they are written", async () => {
  const { admin } = await startControlPlane();
  const related: readonly (readonly [string, string])[] = [
    [everything, "c1"],
    [everything, "c1:ws1"],
    [everything, "ml-repo:holdfast/r1"],
    [everything, "any/other-text"],
    ["c1", "c1:ws1"],
    ["cluster/c1", "workspace/c1:ws1"],
    ["c1", "service/c1:ws1/api"],
    ["c1:ws1", "c1:ws1:api"],
    ["c1:ws1", "workspace/c1:ws1"],
    ["ml-repo/r1", "ml-repo:holdfast/r1"],
  ];
  for (const [above, below] of related) {
    for (const [first, second] of [
      [above, below],
      [below, above],
    ] as const) {
      await take(admin, first, "one");
      const refused = await ask(admin, second, "two");
      expect([first, second, refused.status]).toEqual([first, second, 409]);
      expect(refused.body.message).toMatch(/^one has (?:this lease|the lease on \S+, which overlaps with \S+,) until /);
      // Its own holder is not in its own way.
      expect((await ask(admin, second, "one")).status).toBe(200);
      for (const scope of [first, second]) await release(admin, scope, "one");
      await take(admin, second, "two");
      await release(admin, second, "two");
    }
  }
  // What has nothing in common does not.
  const apart = ["c1:ws1", "c1:ws2", "c2", "c10", "c1:ws10", "ml-repo/r1", "ml-repo/r2", "any/text", "other/text"];
  for (const [nth, scope] of apart.entries()) await take(admin, scope, `holder-${nth}`);
});

test("F74 of many that ask for leases at once, only those whose scopes do not overlap get one", async () => {
  const { admin } = await startControlPlane();
  for (let round = 0; round < 5; round += 1) {
    const scopes = [everything, "c1", "c1:ws1", "c1:ws2", "c2", "c2:ws1"];
    const replies = await Promise.all(scopes.map((scope, nth) => ask(admin, scope, `holder-${nth}`)));
    const held = scopes.filter((_, nth) => replies[nth]?.status === 200);
    const clash = held.flatMap((one) =>
      held.filter((other) => one !== other && (one === everything || other.startsWith(`${one}:`))),
    );
    expect([held.length > 0, clash]).toEqual([true, []]);
    for (const [nth, scope] of scopes.entries()) if (held.includes(scope)) await release(admin, scope, `holder-${nth}`);
  }
});

test("F74 numbers come from one sequence, whatever the scope", async () => {
  const { admin } = await startControlPlane();
  const numbers: number[] = [];
  for (const scope of ["c1:ws1", "c2", "ml-repo/r1", "any/text", "c1:ws2"]) numbers.push(await take(admin, scope));
  expect(numbers).toEqual([1, 2, 3, 4, 5]);
  // Something above is newer than what is held: coming back to it takes a new number.
  expect(await take(admin, "c1")).toBe(6);
  expect(await take(admin, "c1:ws1")).toBe(7);
  expect(await take(admin, "c1:ws1")).toBe(7);
});

/** Every sort of write, and the scopes that cover what it is about; everything does. */
const writes: readonly (readonly [what: string, write: Write, covering: readonly string[]])[] = [
  ["a cluster", putCluster(), ["c1x"]],
  ["a workspace", put(`${svc}/workspaces`, { ...workspace, labels: { a: "b" } }), ["c1x", "c1x:ws1"]],
  ["an application", deploy(), ["c1x", "c1x:ws1"]],
  ["an ml repo", put(`${svc}/ml-repos`, { type: "ml-repo", name: "r1", description: "x" }), ["ml-repo/r1"]],
  ["a model version", put(`${ml}/model-versions`, { type: "model-version", name: "m", ml_repo: "r1" }), ["ml-repo/r1"]],
  [
    "a model version, by postModelVersion",
    ["POST", `${ml}/model-versions`, { manifest: { type: "model-version", name: "n", ml_repo: "r1" } }],
    ["ml-repo/r1"],
  ],
  [
    "a prompt version",
    put(`${ml}/prompt-versions`, {
      type: "chat_prompt",
      name: "p",
      ml_repo: "r1",
      messages: [{ role: "user", content: "hi" }],
    }),
    ["ml-repo/r1"],
  ],
  [
    "a staged version",
    ["POST", `${ml}/artifact-versions/stage`, { manifest: { type: "model-version", name: "s", ml_repo: "r1" } }],
    ["ml-repo/r1"],
  ],
  ["a team", put(`${svc}/teams`, { type: "team", name: "t", members: ["a@x.io"] }), []],
  [
    "a virtual account",
    put(`${svc}/virtual-accounts`, {
      type: "virtual-account",
      name: "ci",
      permissions: [{ resource_type: "cluster", resource_fqn: "c1x", role_id: "cluster-viewer" }],
    }),
    [],
  ],
  ["a secret group", ["POST", `${svc}/secret-groups`, { name: "g", integrationId: "builtin", secrets: [] }], []],
  [
    "a secret group, by its manifest",
    put(`${svc}/secret-groups`, { type: "secret-group", name: "h", secrets: [] }),
    [],
  ],
  ["a token", ["GET", `${svc}/personal-access-tokens/mine`], []],
];

test("F74 a write is rejected by a newer lease of any scope that covers what it is about, and by no other", async () => {
  const plane = await planted();
  const { admin } = plane;
  const scopes = ["c1x", "c1x:ws1", "c2x:ws1", "c1x:ws2", "ml-repo/r1", "ml-repo/r2"];
  for (const [what, wanted, covering] of writes) {
    const others = scopes.filter((scope) => !covering.includes(scope));
    for (const newer of [others, [everything], ...covering.map((scope) => [scope])]) {
      // A scope that has nothing in common with any other: its own number is never outdated.
      const token = await take(admin, "some/text", "late");
      await release(admin, "some/text", "late");
      for (const scope of newer) {
        await take(admin, scope, "newer");
        await release(admin, scope, "newer");
      }
      const { status } = await write(plane, wanted, { token, scope: "some/text" });
      expect([what, newer, status === 412]).toEqual([what, newer, newer !== others]);
    }
  }
});

test("F74 a writer that slept with a lease on everything is rejected where a newer lease was issued, and only there", async () => {
  const plane = await planted();
  const { admin, data } = plane;
  const token = await take(admin, everything, "daemon");
  expect((await write(plane, deploy(), { token })).status).toBe(200);
  await statement(data, "UPDATE leases SET expires_at = 1");
  const newer = await take(admin, "c1x:ws1", "pipeline");
  expect((await write(plane, deploy(), { token: newer, scope: "c1x:ws1" })).status).toBe(200);
  expect((await write(plane, deploy(), { token, scope: everything })).status).toBe(412);
  expect((await write(plane, deploy("c2x:ws1"), { token, scope: everything })).status).toBe(200);
  // By its id the workspace is the same one.
  const { data: found } = (await admin.get(`${svc}/workspaces?fqn=c1x:ws1`)).body;
  const { workspace_fqn: _, ...manifest } = service;
  const byId: Write = ["PUT", `${svc}/apps`, { manifest, workspaceId: found[0].id }];
  expect((await write(plane, byId, { token, scope: everything })).status).toBe(412);
  expect((await write(plane, byId, { token: newer, scope: "c1x:ws1" })).status).toBe(200);
});

test("F74 marking a stage as failed is covered by the stage's ml repo", async () => {
  const plane = await planted();
  const { admin } = plane;
  const manifest = { type: "model-version", name: "m", ml_repo: "r1" };
  const { id } = (await admin.post(`${ml}/artifact-versions/stage`, { manifest })).body;
  const mark: Write = ["POST", `${ml}/artifact-versions/mark-stage-failure`, { id }];
  const token = await take(admin, everything, "late");
  await release(admin, everything, "late");
  await take(admin, "ml-repo/r1");
  expect((await write(plane, mark, { token })).status).toBe(412);
  expect((await write(plane, mark, { token: token + 1, scope: "ml-repo/r1" })).status).toBe(200);
});

test("F62 a number that is not the last one of its scope is 412, and has no effect", async () => {
  const plane = await startControlPlane();
  const { admin } = plane;
  for (const holder of ["a", "b", "c"]) {
    await take(admin, "main", holder);
    await release(admin, "main", holder);
  }
  expect((await write(plane, putCluster(), { token: 3, scope: "main" })).status).toBe(200);
  for (const [token, code] of [
    [2, "stale-fencing-token"],
    [0, "stale-fencing-token"],
    [4, "unknown-fencing-token"],
  ] as const) {
    const refused = await write(plane, putCluster("late"), { token, scope: "main" });
    expect(refused).toMatchObject({ status: 412, body: { code } });
  }
  expect((await admin.get(`${svc}/clusters/late`)).status).toBe(404);
});

test("S50 a number above the highest that was issued for its scope is refused, and no number is recorded", async () => {
  const plane = await planted();
  const { admin, dev, data } = plane;
  const largest = Number.MAX_SAFE_INTEGER;
  const before = await statement(data, "SELECT count(*) AS audit FROM audit WHERE outcome = 'done'");
  for (const scope of [undefined, everything, "c1x:ws1", "made/up"]) {
    for (const token of [1, largest]) {
      const refused = await write(plane, deploy(), { token, ...(scope === undefined ? {} : { scope }) });
      expect([scope, refused]).toMatchObject([scope, { status: 412, body: { code: "unknown-fencing-token" } }]);
    }
  }
  // Neither that, nor what is refused for itself, takes numbers from anybody, or fences anybody.
  expect(await take(admin, "c1x:ws1")).toBe(1);
  expect((await write(plane, deploy(), { token: 2, scope: "c1x:ws1", as: devToken })).status).toBe(412);
  expect(
    (await write(plane, ["PUT", `${svc}/apps`, { manifest: { type: "service" } }], { token: 1, scope: "c1x:ws1" }))
      .status,
  ).toBe(422);
  expect((await write(plane, deploy(), { token: 1, scope: "c1x:ws1" })).status).toBe(200);
  expect((await ask(dev, "c1x:ws1", "b")).status).toBe(409);
  expect((await ask(dev, "c2x", "b")).status).toBe(403);
  expect(await statement(data, "SELECT scope FROM leases")).toEqual([{ scope: "c1x:ws1" }]);
  const after = await statement(data, "SELECT count(*) AS audit FROM audit WHERE outcome = 'done'");
  expect(Number(after[0]?.audit) - Number(before[0]?.audit)).toBe(2);
});

test("S50 a refused write is told for itself first: who may not write learns nothing of numbers", async () => {
  const plane = await planted();
  const foreign = put(`${svc}/clusters`, { ...cluster, name: "foreign" });
  expect((await write(plane, foreign, { token: 1, as: devToken })).status).toBe(403);
  // A number that is refused does not keep a reply under a key.
  const key = randomUUID();
  expect((await write(plane, deploy(), { token: 1, scope: "c1x:ws1", key })).status).toBe(412);
  await take(plane.admin, "c1x:ws1");
  expect((await write(plane, deploy(), { token: 1, scope: "c1x:ws1", key })).status).toBe(200);
});

test("S50 what ended long ago is forgotten; its number counts as one that was never issued, and comes never again", async () => {
  const first = await planted();
  for (let nth = 0; nth < 30; nth += 1) {
    await take(first.admin, `label/${nth}`);
    await release(first.admin, `label/${nth}`);
  }
  await take(first.admin, "c1x");
  await first.close();
  const day = 24 * 60 * 60 * 1000;
  const ended = Date.now() - day - 60_000;
  await statement(first.data, "UPDATE leases SET expires_at = ? WHERE scope LIKE 'label/%'", [ended]);
  const again = await startControlPlane({ data: first.data });
  await expect
    .poll(() => statement(first.data, "SELECT scope FROM leases"), { timeout: 60_000 })
    .toEqual([{ scope: "c1x" }]);
  expect((await write(again, putCluster("late"), { token: 30, scope: "label/29" })).status).toBe(412);
  expect(await take(again.admin, "label/29")).toBe(32);
});

test("S50 the longest lease is a setting, by default a quarter of an hour", async () => {
  const { admin, data } = await startControlPlane();
  expect((await ask(admin, "c1x", "a", { ttlSeconds: 900 })).status).toBe(200);
  for (const ttlSeconds of [901, 86_400, 0, -1]) {
    const refused = await ask(admin, "c2x", "a", { ttlSeconds });
    expect(refused).toMatchObject({
      status: 400,
      body: { details: [{ pointer: "/ttlSeconds", message: "must be from 1 to 900" }] },
    });
  }
  expect(await effects(data)).toEqual(["user:admin E10 lease/c1x"]);
  const other = await startControlPlane({ maxLeaseSeconds: 10 });
  expect((await ask(other.admin, "c1x", "a", { ttlSeconds: 11 })).status).toBe(400);
  expect((await ask(other.admin, "c1x", "a", { ttlSeconds: 10 })).status).toBe(200);
});

test("S50 who administers a scope can break the lease on it; its holder's number counts no more, and the audit tells", async () => {
  const plane = await planted();
  const { admin, dev, data } = plane;
  const lead = await addUser(plane, "lead@example.com");
  await admin.put(`${svc}/clusters`, {
    manifest: { ...cluster, collaborators: [{ subject: "user:lead@example.com", role_id: "cluster-admin" }] },
  });
  const before = (await effects(data)).length;
  const token = await take(admin, "c1x:ws1", "stuck");
  // Writing there is not enough.
  for (const release of [true, false])
    expect((await ask(dev, "c1x:ws1", "dev", { break: true, release })).status).toBe(403);
  expect((await write(plane, deploy(), { token, scope: "c1x:ws1" })).status).toBe(200);
  expect((await ask(lead, "c1x:ws1", "lead", { break: true, release: true })).status).toBe(200);
  expect((await write(plane, deploy(), { token, scope: "c1x:ws1" })).status).toBe(412);
  // It is free for everybody, its former holder too, who gets a new number.
  const renewed = await take(admin, "c1x:ws1", "stuck");
  expect(renewed).toBeGreaterThan(token + 1);
  // Taking a scope by force ends what is held in it.
  const taken = (await ask(lead, "c1x", "lead", { break: true })).body.data;
  expect(taken).toMatchObject({ scope: "c1x", holder: "lead" });
  expect((await write(plane, deploy(), { token: renewed, scope: "c1x:ws1" })).status).toBe(412);
  expect((await ask(admin, "c1x:ws1", "stuck")).status).toBe(409);
  // What is held above is not the cluster administrator's to end, and all of it is the tenant's.
  await release(lead, "c1x", "lead");
  await take(admin, everything, "daemon");
  expect((await ask(lead, "c1x", "lead", { break: true })).status).toBe(403);
  expect((await ask(admin, "c1x", "admin", { break: true })).status).toBe(200);
  // Breaking what nobody holds is nothing.
  expect((await ask(admin, "c2x", "admin", { break: true, release: true })).status).toBe(200);
  expect((await effects(data)).slice(before).filter((effect) => effect.includes("lease"))).toEqual([
    "user:admin E10 lease/c1x:ws1",
    "user:lead@example.com E10 broken-lease/c1x:ws1",
    "user:admin E10 lease/c1x:ws1",
    "user:lead@example.com E10 broken-lease/c1x:ws1",
    "user:lead@example.com E10 lease/c1x",
    "user:lead@example.com E10 lease/c1x",
    "user:admin E10 lease/holdfast",
    "user:admin E10 broken-lease/holdfast",
    "user:admin E10 lease/c1x",
  ]);
});

test("a lease needs the right to write what its scope names, and a form", async () => {
  const { admin, dev } = await planted();
  for (const [scope, status] of [
    ["c1x:ws1", 200],
    ["workspace/c1x:ws1", 200],
    ["service/c1x:ws1/api", 200],
    ["c1x:ws1:api", 200],
    ["c1x:other", 403],
    ["c1x", 403],
    [everything, 403],
    ["ml-repo:holdfast/r", 403],
    ["any/thing", 403],
  ] as const) {
    expect([scope, (await ask(dev, scope, "a")).status]).toEqual([scope, status]);
  }
  for (const [holder, more] of [
    ["", {}],
    ["a\n", {}],
    ["a\u200b", {}],
    ["a\ud800", {}],
    ["x".repeat(257), {}],
    ["a", { ttlSeconds: undefined }],
    ["a", { release: "yes" }],
    ["a", { break: 1 }],
  ] as const) {
    expect([holder, more, (await ask(admin, "c2x", holder, more)).status]).toEqual([holder, more, 400]);
  }
  expect((await ask(admin, "c2x", "é 😀".repeat(64))).status).toBe(200);
  expect((await ask(admin, "a b", "a")).status).toBe(400);
});
