import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { serverMigrations } from "../../src/server/database/migrations.ts";
import type { Tables } from "../../src/server/database/tables.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { cluster, plantWorkspace, service } from "../conformance/platform.ts";
import { effects, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/kept-log.ts";
import { machine } from "../support/machine.ts";
import { startNode } from "../support/process.ts";
import { databaseOf, statement } from "../support/test-database.ts";

const apps = "/api/svc/v1/apps";
const clusters = "/api/svc/v1/clusters";

/** A wire to the database of a folder, and its address at this end. */
async function wired(data: string) {
  const address = new URL((await databaseOf(data)) ?? "");
  const wire = await startBreakableProxy(Number(address.port));
  address.port = String(wire.port);
  return { wire, address: new Secret(address.href) };
}

/** A control plane whose way to its database is a wire that can be cut. */
async function onWire(options: Parameters<typeof startControlPlane>[0] = {}) {
  const data = await temporaryFolder();
  const { wire, address } = await wired(data);
  return { ...(await startControlPlane({ data, database: address, ...options })), wire };
}

/** Sends a write with a key, and answers its status, its text and whether it is a replay. */
async function keyed(
  { url, adminToken }: { url: string; adminToken: Secret },
  path: string,
  body: unknown,
  key: string,
) {
  const reply = await fetch(url + path, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${adminToken.open()}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text(), replayed: reply.headers.get("idempotency-replayed") };
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/readyz`)).ok;
}

const TERMINATE =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";

/** How `serve` ends that cannot start, its database being the given one. */
async function refusedStart(database: string) {
  const cwd = await temporaryFolder();
  const cli = join(inject("processes") ?? "", "cli/holdfast.js");
  return startNode([cli, "serve", "--port", "0", "--data", "data"], { cwd, env: { HOLDFAST_DATABASE: database } })
    .ended;
}

test.each([
  [
    "F64 a server that is down",
    { port: "1" },
    /127\.0\.0\.1:1\/postgres: it cannot be reached \(connect ECONNREFUSED .*\)\n {2}→ /,
  ],
  [
    "a server without the TLS that is asked for",
    { search: "?sslmode=require" },
    /cannot be reached \(.*SSL.*\)\n {2}→ /,
  ],
  ["a wrong password", { password: "CANARY-wrong" }, /it refuses this user or password\n {2}→ /],
  ["a database that is not there", { pathname: "/absent" }, /\/absent: there is no such database\n {2}→ /],
] as const)("serve does not start on %s; it says so in two lines, without the password", async (_, change, why) => {
  const postgres = inject("postgres");
  const address = new URL(postgres !== undefined && "url" in postgres ? postgres.url : "");
  const ended = await refusedStart(Object.assign(address, change).href);
  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(why);
  expect(ended.stderr.trim().split("\n")).toHaveLength(2);
  expect(ended.stderr).not.toMatch(/CANARY/);
});

test("serve does not start with an address of another form, and shows nothing of it", async () => {
  for (const address of ["mysql://u:CANARY@h/x", "postgres://u:CANARY@ho st/x", "CANARY"]) {
    const ended = await refusedStart(address);
    expect(ended).toMatchObject({
      code: 3,
      stdout: "",
      stderr: expect.stringContaining("postgres://user@host:5432/name"),
    });
    expect(ended.stderr).not.toContain("CANARY");
  }
});

test("serve does not start on a schema that a newer release has made, and leaves it as it is", async () => {
  const { data, close } = await startControlPlane();
  await close();
  await statement(data, "INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '')");
  const before = await statement(data, "SELECT name FROM kysely_migration ORDER BY name");
  const ended = await refusedStart((await databaseOf(data)) ?? "");
  expect(ended).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("it was written by a newer release"),
  });
  expect(await statement(data, "SELECT name FROM kysely_migration ORDER BY name")).toEqual(before);
});

test("F64 while the database is away reads and writes are 503 and it is not ready; then it goes on by itself", async () => {
  const { admin, url, wire } = await onWire();
  await plantWorkspace(admin);
  await wire.disconnect();
  const replies = await Promise.all([admin.get(clusters), admin.put(apps, { manifest: service })]);
  for (const { status, headers, body } of replies) {
    expect({ status, code: body.code }).toEqual({ status: 503, code: "storage-unavailable" });
    expect(headers.get("retry-after")).toBe("1");
  }
  expect(await isReady(url)).toBe(false);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await wire.restore();
  expect((await admin.get(clusters)).status).toBe(200);
  expect((await admin.put(apps, { manifest: service })).body.data.version).toBe(1);
  expect(await isReady(url)).toBe(true);
});

test("F64 a database that is away is one line of the log, and one when it is back, whatever the load", async () => {
  const { log, entries } = keptLog();
  const { admin, wire } = await onWire({ log });
  // Each reply has a line of its own.
  const isOther = (event: string) => event !== "started" && event !== "answered";
  const told = () => entries().filter(({ level, event }) => level !== "debug" && isOther(event));
  const recovered = () => told().some(({ event }) => event === "recovered");
  await wire.disconnect();
  for (let round = 0; round < 5; round += 1) {
    const replies = await Promise.all(Array.from({ length: 40 }, () => admin.get(clusters)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([503]));
  }
  await wire.restore();
  await eventually("it has recovered", recovered);
  expect(told()).toEqual([
    expect.objectContaining({ event: "ready" }),
    expect.objectContaining({ event: "not-ready", reason: "storage-unavailable", cause: expect.any(String) }),
    expect.objectContaining({ event: "recovered", durationMs: expect.any(Number) }),
  ]);
  for (const entry of told()) expect(entry).not.toHaveProperty("err");
});

test("F66 on a database that takes no writes any more, such as a standby, reads go on, writes are 503 and it is not ready", async () => {
  const { admin, url, data, wire } = await onWire();
  const name = new URL((await databaseOf(data)) ?? "").pathname.slice(1);
  const setReadOnly = async (value: string) => {
    await statement(data, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
    // New connections find it so.
    wire.closeAll();
  };
  await setReadOnly("on");
  await eventually("it is not ready", async () => !(await isReady(url)));
  expect((await admin.get(clusters)).status).toBe(200);
  expect(await admin.put(clusters, { manifest: cluster })).toMatchObject({
    status: 503,
    body: { code: "storage-unavailable" },
  });
  await statement(
    data,
    `SET transaction_read_only = off; ALTER DATABASE ${name} SET default_transaction_read_only = off`,
  );
  wire.closeAll();
  await eventually("it is ready again", () => isReady(url));
  expect((await admin.put(clusters, { manifest: cluster })).status).toBe(200);
});

test("F64 what goes on by itself says once that the database is away, and once that it is back", async () => {
  const lines: string[] = [];
  const log = createLog({ level: "debug", stream: { write: (line) => lines.push(line) } });
  const { wire } = await onWire({ log, fileCheckSeconds: 0.05 });
  await wire.disconnect();
  const said = (level: string, text: string) =>
    lines.filter((line) => line.includes(`"level":"${level}"`) && line.includes(text));
  await eventually("failures", () => said("debug", "refreshing the keys failed").length > 1);
  await eventually("it is told", () => said("error", '"not-ready"').length > 0);
  await wire.restore();
  await eventually("it goes on", () => said("info", '"recovered"').length > 0);
  expect(lines.filter((line) => line.includes('"level":"error"'))).toHaveLength(1);
  expect(lines.join("")).not.toContain("CANARY");
});

test("F66 connections that break in the middle of requests cost no write, double none and answer nothing but 200 and 503", async () => {
  const { admin, wire, data } = await onWire();
  await plantWorkspace(admin);
  let isOver = false;
  const statuses = new Map<number, number>();
  const seen = (status: number) => void statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const write = async (name: string) => {
    let accepted = 0;
    while (!isOver) {
      const { status } = await admin.put(apps, { manifest: { ...service, name } });
      seen(status);
      if (status === 200) accepted += 1;
    }
    return { name, accepted };
  };
  const read = async () => {
    while (!isOver) seen((await admin.get(apps)).status);
  };
  const writing = Promise.all(Array.from({ length: 6 }, (_, nth) => write(`app${nth}`)));
  const reading = Promise.all([read(), read()]);
  for (let nth = 0; nth < 12; nth += 1) {
    const before = statuses.get(200) ?? 0;
    await eventually("more replies", () => (statuses.get(200) ?? 0) > before + 5, { everyMs: 1 });
    // The wire breaks, or the server ends its side with a last word.
    if (nth % 2 === 0) wire.closeAll();
    else await statement(data, TERMINATE);
  }
  isOver = true;
  const made = await writing;
  await reading;
  expect([...statuses.keys()].toSorted()).toBeOneOf([[200], [200, 503]]);
  const { body } = await admin.get(apps);
  for (const { name, accepted } of made) {
    const app = body.data.find((one: { name: string }) => one.name === name);
    // It is absent where none of its writes came through.
    expect([name, app?.lastVersion ?? 0]).toEqual([name, accepted]);
  }
  const written = (await effects(data)).filter((effect) => effect.includes(" 16 "));
  expect(written).toHaveLength(made.reduce((sum, { accepted }) => sum + accepted, 0));
});

test("F65 a database that does not answer makes it not ready within seconds, and leaves it alive", async () => {
  const { url, wire } = await onWire();
  wire.silence();
  expect(await isReady(url)).toBe(false);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  await wire.restore();
  expect(await eventually("it is ready again", () => isReady(url))).toBe(true);
});

test.each([
  ["was made, and its answer lost", "before its answer arrives"],
  ["did not arrive", "before it arrives"],
] as const)("F64 a commit that %s is looked up: the write is answered as made, and made once", async (_, moment) => {
  const plane = await onWire();
  const key = randomUUID();
  const broken = plane.wire.breakAt("COMMIT", moment);
  const first = await keyed(plane, clusters, { manifest: cluster }, key);
  await broken;
  expect(first).toMatchObject({ status: 200, replayed: null });
  const again = await keyed(plane, clusters, { manifest: cluster }, key);
  expect(again).toEqual({ status: 200, text: first.text, replayed: "true" });
  expect(await effects(plane.data)).toEqual(["user:admin 17 cluster/c1x"]);
});

test("F64 a commit whose outcome cannot be had is ambiguous, and neither made again nor said to have failed", async () => {
  const data = await temporaryFolder();
  const { address, wire } = await wired(data);
  const store = await openPostgresStore<Tables>(address, serverMigrations, { ...machine, deadline: 300 });
  onTestFinished(() => store.close());
  let runs = 0;
  const broken = wire.breakAt("COMMIT", "before its answer arrives");
  const writing = store.write(async (transaction) => {
    runs += 1;
    await transaction.insertInto("lease_numbers").values({ name: "test", number: 1 }).execute();
  });
  const outcome = expect(writing).rejects.toMatchObject({ code: "commit-unknown" });
  await broken;
  await wire.disconnect();
  await outcome;
  expect(runs).toBe(1);
  expect(await statement(data, "SELECT name FROM lease_numbers WHERE name = 'test'")).toEqual([{ name: "test" }]);
});
