import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { parseKey } from "../../src/seal/seal-key.ts";
import type { RolloutDriver } from "../../src/server/rollouts/rollout-driver.ts";
import { createSimulatedRollouts } from "../../src/server/rollouts/simulated-rollouts.ts";
import { account, cluster, plantWorkspace, service, workspace } from "../conformance/platform.ts";
import { addUser, type Caller, caller, effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { expectAll, type Sent, send, someWrite } from "../support/mixed-writes.ts";
import { randomFrom } from "../support/random.ts";
import { type Apart, type ApartOptions, kill, serveApart } from "../support/serve-apart.ts";
import { databaseOf, statement } from "../support/test-database.ts";

type Server = Apart & { readonly admin: Caller };

/** Servers that share a database, each in a process and a folder of its own. */
async function sharing(each: readonly [ApartOptions, ...ApartOptions[]], template?: string) {
  const data = await temporaryFolder();
  const database = (await databaseOf(data, template)) ?? "";
  const shared = { serverKey: randomBytes(32).toString("base64"), adminToken: "of-all-the-servers" };
  const start = async (nth: number): Promise<Server> => {
    const apart = await serveApart(join(data, `server-${nth}`), { database, shared, ...each[nth] });
    return { ...apart, admin: caller(apart.url, apart.token) };
  };
  const [one, ...others] = await Promise.all([start(0), ...each.slice(1).map((_, nth) => start(nth + 1))]);
  const [two = one, three = two] = others;
  const servers: [Server, ...Server[]] = [one, ...others];
  return { data, servers, start, one, two, three };
}

async function put({ url, token }: { url: string; token: Secret }, path: string, body: unknown, headers = {}) {
  const reply = await fetch(`${url}/api/svc/v1/${path}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${token.open()}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, text, body: JSON.parse(text) };
}

const apps = "/api/svc/v1/apps";
// What the killed server had just taken in hand is free after 10 seconds.
const TAKEN_OVER = { withinMs: 60_000 };

test("servers that start together on an empty database make its schema once", async () => {
  const { data, servers } = await sharing([{}, {}, {}], "template0");
  const steps = await statement(data, "SELECT name FROM kysely_migration ORDER BY name");
  expect(steps).toHaveLength(new Set(steps.map(({ name }) => name)).size);
  expect(steps.length).toBeGreaterThan(0);
  const statuses = servers.map(async ({ admin }) => (await admin.get("/api/svc/v1/workspaces")).status);
  expect(await Promise.all(statuses)).toEqual([200, 200, 200]);
  expect(await statement(data, "SELECT version FROM server_keys")).toHaveLength(1);
});

test("writes of the same names on several servers at once make one of each, and a version for each accepted one", async () => {
  const { data, servers, one } = await sharing([{}, {}]);
  await plantWorkspace(one.admin);
  const team = { type: "team", name: "ml", members: ["ada@example.com"] };
  const replies = await Promise.all(
    Array.from({ length: 24 }, async (_, nth) => {
      const server = servers[nth % servers.length] ?? one;
      return Promise.all([
        put(server, "clusters", { manifest: { ...cluster, name: "same" } }),
        put(server, "teams", { manifest: team }),
        put(server, "virtual-accounts", { manifest: account }),
        put(server, "apps", { manifest: service }),
      ]);
    }),
  );
  const statuses = new Set(replies.flat().map(({ status }) => status));
  expect(statuses).toEqual(new Set([200]));
  for (const table of ["workspaces", "teams", "virtual_accounts", "applications", "jwts"])
    expect([table, await statement(data, `SELECT id FROM ${table}`)]).toEqual([table, [expect.anything()]]);
  expect(replies.filter(([, , { body }]) => body.token !== undefined)).toHaveLength(1);
  const versions = replies.map(([, , , { body }]) => body.data.version).toSorted((a, b) => a - b);
  expect(versions).toEqual(Array.from({ length: 24 }, (_, nth) => nth + 1));
  const written = (await effects(data)).filter((effect) => !effect.includes(" 16 "));
  expect(written.toSorted()).toEqual([
    "user:admin 17 cluster/c1x",
    "user:admin 17 cluster/same",
    "user:admin 18 virtual-account/ci",
    "user:admin 19 team/ml",
    "user:admin E1 workspace/c1x:ws1",
  ]);
});

test("F69 a key holds on every server: its write is made once, and another server replays it after a kill -9", async () => {
  const { data, servers, one, two } = await sharing([{}, {}]);
  const key = { "idempotency-key": randomUUID() };
  const replies = await Promise.all(
    servers.flatMap((server) => [1, 2].map(() => put(server, "virtual-accounts", { manifest: account }, key))),
  );
  const answered = replies.filter(({ status }) => status === 200);
  expect(replies.filter(({ status }) => status !== 200).map(({ status }) => status)).toEqual(
    Array.from({ length: replies.length - answered.length }, () => 409),
  );
  expect(new Set(answered.map(({ text }) => text)).size).toBe(1);
  await kill(one.child);
  const again = await put(two, "virtual-accounts", { manifest: account }, key);
  expect(again.text).toBe(answered[0]?.text);
  expect(again.body.token).toBeDefined();
  expect(await effects(data)).toEqual(["user:admin 18 virtual-account/ci"]);
});

test("rollouts of a server that is killed are ended by another one, and every status is reached once", async () => {
  const { servers, one, two } = await sharing([{ rolloutSeconds: 1 }, { rolloutSeconds: 1 }]);
  await plantWorkspace(one.admin);
  const job = { ...service, type: "job", name: "train" };
  const names = Array.from({ length: 12 }, (_, nth) => `app${nth}`);
  const made = await Promise.all(
    names.map((name, nth) => put(servers[nth % 2] ?? one, "apps", { manifest: { ...service, name } })),
  );
  expect(made.map(({ status }) => status)).toEqual(names.map(() => 200));
  const triggered = await put(one, "apps", { manifest: job, triggerOnDeploy: true });
  await kill(one.child);
  await eventually(
    "the end of all rollouts",
    async () => {
      const { body } = await two.admin.get(apps);
      const statuses = body.data.map(
        (app: { deployment: { currentStatus: { status: string } } }) => app.deployment.currentStatus.status,
      );
      return statuses.every((status: string) => status === "DEPLOY_SUCCESS");
    },
    TAKEN_OVER,
  );
  for (const { body } of made) {
    const { data } = (await two.admin.get(`${apps}/${body.data.applicationId}/deployments`)).body;
    const history = data[0].deploymentStatuses.map(({ status }: { status: string }) => status);
    expect(history).toEqual(["INITIALIZED", "ROLLOUT_STARTED", "DEPLOY_SUCCESS"]);
  }
  const runs = `/api/svc/v1/jobs/${triggered.body.data.applicationId}/runs`;
  const run = await eventually(
    "the end of the run",
    async () => {
      const { data } = (await two.admin.get(runs)).body;
      return data[0]?.status === "FINISHED" && data;
    },
    TAKEN_OVER,
  );
  expect(run).toHaveLength(1);
});

test("a rollout is carried out by one server at a time, and each server carries out some", async () => {
  const data = await temporaryFolder();
  const shared = { database: new Secret((await databaseOf(data)) ?? ""), adminToken: new Secret("of-all-the-servers") };
  const serverKey = new Secret(randomBytes(32).toString("base64"));
  const under = new Set<string>();
  const twice: string[] = [];
  const driven = new Map<string, number>();
  // Slow enough for servers to meet, were they let.
  const driverOf = (server: string): RolloutDriver => {
    const driver = createSimulatedRollouts({ seconds: 0.5 });
    return {
      ...driver,
      observe: async (rollout, now) => {
        if (under.has(rollout.fqn)) twice.push(rollout.fqn);
        under.add(rollout.fqn);
        await pause(30);
        under.delete(rollout.fqn);
        driven.set(server, (driven.get(server) ?? 0) + 1);
        return driver.observe(rollout, now);
      },
    };
  };
  const start = async (name: string) =>
    startControlPlane({ ...shared, serverKey, data: await temporaryFolder(), rollouts: driverOf(name) });
  const [one, two] = [await start("one"), await start("two")];
  await plantWorkspace(one.admin);
  const names = Array.from({ length: 30 }, (_, nth) => `app${nth}`);
  await Promise.all(
    names.map((name, nth) => (nth % 2 === 0 ? one : two).admin.put(apps, { manifest: { ...service, name } })),
  );
  await eventually("the end of all rollouts", async () => {
    const rows = await statement(data, "SELECT id FROM deployments WHERE is_over = 0");
    return rows.length === 0;
  });
  expect(twice).toEqual([]);
  expect([...driven.keys()].toSorted()).toEqual(["one", "two"]);
});

test("the program of a rollout runs on one server, and begins again on another one when that server ends", async () => {
  const data = await temporaryFolder();
  const shared = { database: new Secret((await databaseOf(data)) ?? ""), adminToken: new Secret("of-all-the-servers") };
  const serverKey = new Secret(randomBytes(32).toString("base64"));
  const folder = await temporaryFolder();
  const path = join(folder, "driver");
  const script = `#!/bin/sh
    read input; echo "$input" >> ${folder}/inputs
    while [ ! -e ${folder}/go ]; do sleep 0.1; done
    echo '{"status":"DEPLOY_SUCCESS"}'`;
  await writeFile(path, script, { mode: 0o700 });
  const rolloutProgram = { path, env: { PATH: process.env.PATH }, seconds: 120, atOnce: 10 };
  const start = async () => startControlPlane({ ...shared, serverKey, data: await temporaryFolder(), rolloutProgram });
  const [one, two] = [await start(), await start()];
  await plantWorkspace(one.admin);
  const begun = () =>
    existsSync(`${folder}/inputs`) ? readFileSync(`${folder}/inputs`, "utf8").trim().split("\n") : [];
  await one.admin.put(apps, { manifest: { ...service, name: "first" } });
  await eventually("the program", () => begun().length === 1);
  const claimedUntil = async () => Number((await statement(data, "SELECT look_at FROM deployments"))[0]?.look_at);
  const first = await claimedUntil();
  // Longer than a server may leave a rollout alone.
  await eventually("a renewed claim", async () => (await claimedUntil()) > first + 10_000);
  expect(begun()).toHaveLength(1);
  // Whichever server runs it.
  await one.close();
  await writeFile(`${folder}/go`, "");
  await eventually("the end of the rollout", async () => {
    const [app] = (await two.admin.get(`${apps}?fqn=c1x:ws1:first`)).body.data;
    return app.deployment.currentStatus.status === "DEPLOY_SUCCESS";
  });
  expect(begun().length).toBeLessThanOrEqual(2);
});

test("F62 a lease is held on every server, ends by the clock of the database, and its number fences on all", async () => {
  const hour = 3_600_000;
  const { servers, one, two, three } = await sharing([{}, { aheadMs: hour }, { aheadMs: -hour }]);
  const lease = "leases/main";
  const take = (holder: string, ttlSeconds: number) => ({ holder, ttlSeconds });
  const taken = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => put(servers[nth % 3] ?? one, "leases/other", take(`holder-${nth}`, 60))),
  );
  expect(taken.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 11 }, () => 409)]);

  const first = await put(one, lease, take("a", 60));
  const number: number = first.body.data.fencingToken;
  // For the one it would be over long ago, and the other would let it last for an hour more.
  for (const server of [two, three]) expect((await put(server, lease, take("b", 60))).status).toBe(409);
  const end = Date.parse((await put(three, lease, take("a", 1))).body.data.expiresAt);
  expect(Math.abs(end - Date.now())).toBeLessThan(60_000);
  const second = await eventually("the end of the lease", async () => {
    const reply = await put(three, lease, take("b", 60));
    return reply.status === 200 && reply.body.data;
  });
  expect(second.fencingToken).toBe(number + 1);
  const fenced = (token: number) => ({ "x-fencing-scope": "main", "x-fencing-token": String(token) });
  expect((await put(two, "clusters", { manifest: cluster }, fenced(number))).status).toBe(412);
  expect((await put(one, "clusters", { manifest: cluster }, fenced(number + 1))).status).toBe(200);
});

test("F74 leases that overlap exclude each other whichever servers are asked, and so do their numbers", async () => {
  const { servers, one, two } = await sharing([{}, {}, {}]);
  await plantWorkspace(one.admin);
  const scopes = ["holdfast", "c1x", "c1x:ws1", "c1x:ws2", "c2x", "c2x:ws1"];
  const lease = (nth: number, more: object = {}) => {
    const server = servers[nth % servers.length] ?? one;
    return put(server, `leases/${scopes[nth]}`, { holder: `holder-${nth}`, ttlSeconds: 60, ...more });
  };
  let last = { scope: "", number: 0 };
  for (let round = 0; round < 4; round += 1) {
    const replies = await Promise.all(scopes.map((_, nth) => lease((nth + round) % scopes.length)));
    const held = replies.flatMap(({ status, body }) => (status === 200 ? [body.data] : []));
    const names: readonly string[] = held.map(({ scope }) => scope);
    const clash = names.flatMap((name) =>
      names.filter((other) => other !== name && (name === "holdfast" || other.startsWith(`${name}:`))),
    );
    expect([names.length > 0, clash]).toEqual([true, []]);
    const numbers: readonly number[] = held.map(({ fencingToken }) => fencingToken);
    expect(Math.min(...numbers)).toBeGreaterThan(last.number);
    last = { scope: names[0] ?? "", number: Math.max(...numbers) };
    for (const nth of scopes.keys()) await lease(nth, { release: true });
  }
  const late = (await lease(0)).body.data.fencingToken;
  await lease(0, { release: true });
  const fenced = (scope: string, token: number) => ({ "x-fencing-scope": scope, "x-fencing-token": String(token) });
  expect((await put(two, "apps", { manifest: service }, fenced("holdfast", late))).status).toBe(200);
  const newer = (await lease(2)).body.data.fencingToken;
  expect((await put(two, "apps", { manifest: service }, fenced("holdfast", late))).status).toBe(412);
  expect((await put(one, "apps", { manifest: service }, fenced("c1x:ws1", newer))).status).toBe(200);
});

test("F74 no write under a number arrives once a newer lease of something above has been issued", async () => {
  const { servers, one } = await sharing([{}, {}, {}]);
  await plantWorkspace(one.admin);
  const admin = { holder: "admin", ttlSeconds: 60, break: true };
  for (let round = 0; round < 2; round += 1) {
    const { fencingToken } = (await put(one, "leases/c1x:ws1", { holder: "pipeline", ttlSeconds: 60, break: true }))
      .body.data;
    const headers = { "x-fencing-scope": "c1x:ws1", "x-fencing-token": String(fencingToken) };
    let isOver = false;
    const statuses: number[] = [];
    const write = async (server: Server) => {
      while (!isOver) statuses.push((await put(server, "clusters", { manifest: cluster }, headers)).status);
    };
    const writing = Promise.all(servers.map(write));
    await eventually("some writes", () => statuses.length > 10);
    expect((await put(one, "leases/holdfast", admin)).status).toBe(200);
    // From here on every request is a new one.
    const refused = await Promise.all(
      servers.map(async (server) => (await put(server, "apps", { manifest: service }, headers)).status),
    );
    isOver = true;
    await writing;
    expect(refused).toEqual([412, 412, 412]);
    expect(new Set(statuses)).toEqual(new Set([200, 412]));
  }
});

test("what is taken away on one server is soon refused on the others", async () => {
  const data = await temporaryFolder();
  const database = new Secret((await databaseOf(data)) ?? "");
  const adminToken = new Secret("of-all-the-servers");
  const serverKey = new Secret(randomBytes(32).toString("base64"));
  const start = async () => startControlPlane({ database, adminToken, serverKey, data: await temporaryFolder() });
  const [one, two] = [await start(), await start()];
  await one.admin.put("/api/svc/v1/clusters", { manifest: cluster });
  const granted = { ...workspace, collaborators: [{ subject: "user:dev@example.com", role_id: "workspace-editor" }] };
  await one.admin.put("/api/svc/v1/workspaces", { manifest: granted });
  const dev = await addUser({ url: two.url, data }, "dev@example.com");
  const { body } = await one.admin.put("/api/svc/v1/virtual-accounts", { manifest: account });
  const robot = { url: two.url, token: new Secret(body.token) };
  expect((await dev.put(apps, { manifest: service })).status).toBe(200);
  expect((await put(robot, "apps", { manifest: service })).status).toBe(200);

  await one.admin.put("/api/svc/v1/workspaces", { manifest: workspace });
  const expired = { ...account, expiration_date: "2020-01-01" };
  await one.admin.put("/api/svc/v1/virtual-accounts", { manifest: expired });
  const within = { withinMs: 60_000, everyMs: 5 };
  await eventually("the role is lost", async () => (await dev.put(apps, { manifest: service })).status === 422, within);
  await eventually(
    "the account is out",
    async () => (await put(robot, "apps", { manifest: service })).status === 401,
    within,
  );
});

test("a server without the admin token does not start beside another one, and makes a new one once that is gone", async () => {
  const data = await temporaryFolder();
  const database = new Secret((await databaseOf(data)) ?? "");
  const serverKey = new Secret(randomBytes(32).toString("base64"));
  const start = async (more: { data?: string; newAdminToken?: boolean } = {}) =>
    startControlPlane({ database, serverKey, data: await temporaryFolder(), ...more });
  const statusOf = async ({ url }: { url: string }, token: Secret) =>
    (await caller(url, token).get("/api/svc/v1/me")).status;
  const one = await start();
  await expect(start()).rejects.toThrow(/another server on this database was seen \d+ s ago: set HOLDFAST_ADMIN_TOKEN/);
  expect(await statusOf(one, one.adminToken)).toBe(200);
  const asked = await start({ newAdminToken: true });
  expect(await statusOf(asked, asked.adminToken)).toBe(200);
  await eventually("it has ended everywhere", async () => (await statusOf(one, one.adminToken)) === 401);
  // The folder has the current token, so it is started again beside the other.
  await asked.close();
  const again = await start({ data: asked.data });
  expect(again.adminToken.open()).toBe(asked.adminToken.open());
  await again.close();
  await expect(start({ data: one.data })).rejects.toThrow("in use by another control plane");
  // As if the last one had been killed a minute ago.
  await statement(data, "UPDATE servers SET seen_at = seen_at - 60000");
  const fresh = await start();
  expect(await statusOf(fresh, asked.adminToken)).toBe(401);
  expect(await effects(data)).toEqual(
    [one, asked].flatMap(() => [
      expect.stringMatching(/^bootstrap admin-token user-token\/bootstrap-/),
      expect.stringMatching(/^bootstrap admin-token ended-user-token\/bootstrap-/),
    ]),
  );
  await fresh.close();
  await one.close();
  expect(await statement(data, "SELECT id FROM servers")).toEqual([]);
});

test("of servers that start together without a token, one starts", async () => {
  const data = await temporaryFolder();
  const database = new Secret((await databaseOf(data)) ?? "");
  const serverKey = new Secret(randomBytes(32).toString("base64"));
  const start = async () => startControlPlane({ database, serverKey, data: await temporaryFolder() });
  const startThree = async () => {
    const started = await Promise.allSettled([start(), start(), start()]);
    expect(started.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected", "rejected"]);
    return started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  };
  for (const one of await startThree()) await one.close();
  // The administrator exists now.
  await startThree();
});

test("S35 what a server seals with the former key, while another one has forgotten it, is sealed anew as well", async () => {
  const data = await temporaryFolder();
  const database = new Secret((await databaseOf(data)) ?? "");
  const [former, fresh] = [0, 1].map(() => randomBytes(32).toString("base64"));
  const adminToken = new Secret("of-all-the-servers");
  const start = (keys: string) =>
    temporaryFolder().then((own) =>
      startControlPlane({ data: own, database, adminToken, serverKey: new Secret(keys) }),
    );
  const known = async () => (await statement(data, "SELECT version FROM server_keys")).map(({ version }) => version);
  const late = await start(`${former} ${fresh}`);
  const early = await start(`${fresh} ${former}`);
  await eventually("the former key is forgotten", async () => (await known()).join() === parseKey(fresh ?? "").version);
  await early.close();
  const secrets = [{ key: "k", value: "CANARY-value" }];
  const made = await late.admin.post("/api/svc/v1/secret-groups", { name: "g", integrationId: "builtin", secrets });
  const { id } = made.body.data.associatedSecrets[0];
  const sealed = () => statement(data, "SELECT sealed FROM secret_versions");
  const before = await sealed();
  await late.close();

  const changed = await start(`${fresh} ${former}`);
  await eventually("it is sealed anew", async () => (await sealed())[0]?.sealed !== before[0]?.sealed);
  await changed.close();
  const last = await start(fresh ?? "");
  expect((await last.admin.get(`/api/svc/v1/secrets/${id}`)).body.data.value).toBe("CANARY-value");
});

const seed = Number(process.env.HOLDFAST_CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
const crashes = Number(process.env.HOLDFAST_CRASHES ?? 2);
const timeout = 180_000 + 10_000 * crashes;

test(`F69 with one of three killed again and again, writes resent to any under their key are made once (seed ${seed})`, {
  timeout,
}, async () => {
  const chance = randomFrom(seed);
  const { data, servers, start } = await sharing([{}, {}, {}]);
  const any = () => servers[Math.floor(chance() * servers.length)] ?? servers[0];
  await plantWorkspace(any().admin);
  await any().admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "repo" } });
  const sent: Sent[] = [];
  let resent = 0;
  let isOver = false;
  const write = async (writer: number) => {
    for (let nth = 0; !isOver; nth += 1) {
      const wanted = someWrite(chance, { writer, nth: String(nth) });
      let reply = await send(any(), wanted);
      for (; reply?.status !== 200; reply = await send(any(), wanted)) {
        // A server that is starting refuses at once, and the first one may still be at it.
        expect([undefined, 409]).toContain(reply?.status);
        await pause(20);
        if (wanted.key === null) break;
        resent += 1;
      }
      sent.push({ ...wanted, reply: reply?.text ?? null });
    }
  };
  const writing = Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer)));
  for (let nth = 0; nth < crashes; nth += 1) {
    const before = sent.length;
    const more = 20 + chance() * 60;
    await eventually("more replies", () => sent.length > before + more, { everyMs: 1 });
    const at = Math.floor(chance() * servers.length);
    await kill(servers[at]?.child ?? servers[0].child);
    servers[at] = await start(at);
  }
  isOver = true;
  await writing;
  const bare = sent.filter(({ reply }) => reply === null).length;
  const present = await expectAll(any().admin, data, sent);
  process.stdout.write(
    `three servers: kills ${crashes}, acknowledged and present ${sent.length - bare}, resent under their key ${resent}; ` +
      `without a key and reply ${bare}, of which ${present} present whole\n`,
  );
});
