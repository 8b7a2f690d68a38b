import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { serverMigrations } from "../../src/server/database/migrations.ts";
import type { Tables } from "../../src/server/database/tables.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { plantWorkspace, service } from "../conformance/platform.ts";
import { caller, startControlPlane, temporaryFolder } from "../control-plane.ts";
import { startBreakableProxy } from "../support/breakable-proxy.ts";
import { eventually } from "../support/eventually.ts";
import { machine } from "../support/machine.ts";
import { type Postgres, startPostgres } from "../support/postgres.ts";

// A PostgreSQL of their own, since they crash it. What is not committed stays in memory, where a crash takes it.
let postgres: Postgres;
beforeAll(async () => {
  // Then every test here says why it does not run.
  if ("reason" in (inject("postgres") ?? {})) return;
  postgres = await startPostgres({ durable: true, settings: ["wal_writer_delay=10s", "bgwriter_delay=10s"] });
});
afterAll(() => postgres?.[Symbol.asyncDispose]());

const apps = "/api/svc/v1/apps";
const number = "pg_current_xact_id()::text::int AS number";

test("F66 after immediate stops of PostgreSQL in the middle of writes, every accepted write is there, whole", async () => {
  const { admin, url } = await startControlPlane({ database: await databaseCalled("stops") });
  await plantWorkspace(admin);
  let isOver = false;
  const statuses = new Map<number, number>();
  const write = async (name: string) => {
    let accepted = 0;
    while (!isOver) {
      const { status } = await admin.put(apps, { manifest: { ...service, name } });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 200) accepted += 1;
      else await eventually("it is ready again", async () => (await fetch(`${url}/readyz`)).ok, { everyMs: 50 });
    }
    return { name, accepted };
  };
  const writing = Promise.all(Array.from({ length: 8 }, (_, nth) => write(`app${nth}`)));
  const crashes = Number(process.env.HOLDFAST_CRASHES ?? 2);
  for (let nth = 0; nth < crashes; nth += 1) {
    const before = statuses.get(200) ?? 0;
    await eventually("more replies", () => (statuses.get(200) ?? 0) > before + 30, { everyMs: 1 });
    await postgres.crash();
    await postgres.start();
  }
  isOver = true;
  const made = await writing;
  const { body } = await admin.get(apps);
  let versions = 0;
  for (const { name, accepted } of made) {
    const app = body.data.find((one: { name: string }) => one.name === name);
    const listed = (await admin.get(`${apps}/${app.id}/deployments?limit=1000`)).body;
    expect([name, app.lastVersion, listed.pagination.total]).toEqual([name, accepted, accepted]);
    versions += accepted;
  }
  expect([...statuses.keys()].toSorted()).toBeOneOf([[200], [200, 503]]);
  expect(
    await ask("stops", "SELECT count(*)::int AS number FROM audit WHERE outcome = 'done' AND operation = '16'"),
  ).toEqual([versions]);
  const refused = statuses.get(503) ?? 0;
  process.stdout.write(
    `crashes of PostgreSQL ${crashes}, accepted ${versions}, present ${versions}, refused ${refused}\n`,
  );
});

test("F64 a commit that a crash took is not mistaken for the one that got its number afterwards", async () => {
  const wire = await startBreakableProxy(postgres.port);
  const address = Object.assign(new URL((await databaseCalled("numbers")).open()), { port: String(wire.port) });
  // As long as it takes to crash and start it here.
  const limits = { away: 60_000, deadline: 60_000 };
  const store = await openPostgresStore<Tables>(new Secret(address.href), serverMigrations, { ...machine, ...limits });
  onTestFinished(() => store.close());
  const numbers: number[] = [];
  const broken = wire.breakAt("COMMIT", "before it arrives");
  const writing = store.write(async (transaction) => {
    await transaction.insertInto("lease_numbers").values({ name: "test", number: 1 }).execute();
    const { rows } = await sql<{ readonly number: number }>`SELECT ${sql.raw(number)}`.execute(transaction);
    numbers.push(...rows.map((row) => row.number));
  });
  await broken;
  await Promise.all([wire.disconnect(), postgres.crash()]);
  const [lost = 0] = numbers;
  await postgres.start();
  const later: number[] = [];
  while ((later.at(-1) ?? 0) < lost) later.push(...(await ask("numbers", `SELECT ${number}`)));
  expect(later).toContain(lost);
  await wire.restore();
  await writing;
  expect(await ask("numbers", "SELECT count(*)::int AS number FROM lease_numbers WHERE name = 'test'")).toEqual([1]);
  expect(numbers).toHaveLength(2);
});

test("a server on a copy of the cluster has all that was accepted, with the same key and with no other", async () => {
  const data = await temporaryFolder();
  const database = await databaseCalled("original");
  const { admin, adminToken } = await startControlPlane({ data, database });
  await plantWorkspace(admin);
  const group = { name: "g", integrationId: "builtin", secrets: [{ key: "k", value: "CANARY-value" }] };
  const secret = (await admin.post("/api/svc/v1/secret-groups", group)).body.data.associatedSecrets[0].id;
  const token = new Secret((await admin.get("/api/svc/v1/personal-access-tokens/mine")).body.token);
  await admin.put(apps, { manifest: service });
  await postgres.crash();
  const copy = await startPostgres({ copyOf: postgres.folder });
  onTestFinished(() => copy[Symbol.asyncDispose]());
  await postgres.start();
  const there = new Secret(URL.parse("original", copy.url)?.href ?? "");

  await expect(startControlPlane({ database: there })).rejects.toThrow("there is no key");
  const another = new Secret(randomBytes(32).toString("base64"));
  await expect(startControlPlane({ database: there, serverKey: another })).rejects.toThrow("sealed with another key");
  const serverKey = new Secret(await readFile(join(data, "server-key"), "utf8"));
  // A token of the administrator's ends with the token that made it, unless that goes along.
  const restored = await startControlPlane({ database: there, serverKey, adminToken });
  expect((await restored.admin.get(`/api/svc/v1/secrets/${secret}`)).body.data.value).toBe("CANARY-value");
  expect((await caller(restored.url, token).get(apps)).body.data).toMatchObject([{ name: "api", lastVersion: 1 }]);
  expect((await restored.admin.put(apps, { manifest: service })).body.data.version).toBe(2);
  expect((await admin.put(apps, { manifest: service })).body.data.version).toBe(2);
});

/** Makes an empty database, and answers its address. */
async function databaseCalled(name: string): Promise<Secret> {
  await query(postgres.url, `CREATE DATABASE ${name}`);
  return new Secret(addressOf(name));
}

/** The column `number` of what a database answers. */
async function ask(name: string, text: string): Promise<readonly number[]> {
  return (await query(addressOf(name), text)).map((row) => row.number);
}

async function query(url: string, text: string): Promise<readonly { readonly number: number }[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

function addressOf(name: string): string {
  return URL.parse(name, postgres.url)?.href ?? "";
}
