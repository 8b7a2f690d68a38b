import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { createLog } from "../../src/log/log.ts";
import { cluster, plantWorkspace, service } from "../conformance/platform.ts";
import { startControlPlane } from "../control-plane.ts";
import { mountSmallDisk } from "../support/full-disk.ts";
import { TEMPLATE } from "../support/one-postgres.ts";
import { postgresUser } from "../support/postgres.ts";
import { statement } from "../support/test-database.ts";

const APPS = "/api/svc/v1/apps";
const refused = { status: 507, body: { statusCode: 507, code: "storage-full" } };

async function readyAt(url: string) {
  const reply = await fetch(`${url}/readyz`);
  return [reply.status, await reply.json()];
}

/** A log that keeps the causes of its errors. */
function keptErrors() {
  const errors: string[] = [];
  const write = (line: string) => {
    const { level, cause } = JSON.parse(line);
    if (level === "error") errors.push(cause);
  };
  return { log: createLog({ level: "info", stream: { write } }), errors };
}

test("F82 a PostgreSQL that says its disk is full is 507, ready for reads alone, and used again once it is not", async () => {
  const { log, errors } = keptErrors();
  const { admin, url, data } = await startControlPlane({ log });
  await plantWorkspace(admin);
  await statement(
    data,
    `CREATE FUNCTION no_room() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`,
  );
  await statement(data, "CREATE TRIGGER full_disk BEFORE INSERT ON audit EXECUTE FUNCTION no_room()");
  await statement(data, "CREATE TRIGGER full_disk BEFORE INSERT ON holdfast_commits EXECUTE FUNCTION no_room()");
  for (const _ of [1, 2]) {
    const reply = await admin.put(APPS, { manifest: service });
    expect(reply).toMatchObject(refused);
    expect(reply.headers.get("retry-after")).toBe("10");
    expect(await readyAt(url)).toEqual([200, { status: "ready", degraded: "storage-full" }]);
  }
  expect((await admin.get(APPS)).body.pagination.total).toBe(0);
  // One of the two makes no room yet: a commit still finds none.
  await statement(data, "DROP TRIGGER full_disk ON audit");
  expect(await admin.put(APPS, { manifest: service })).toMatchObject(refused);
  expect(await readyAt(url)).toEqual([200, { status: "ready", degraded: "storage-full" }]);
  await statement(data, "DROP TRIGGER full_disk ON holdfast_commits");
  expect(await readyAt(url)).toEqual([200, { status: "ready" }]);
  expect((await admin.put(APPS, { manifest: service })).status).toBe(200);
  expect(errors).toEqual([expect.stringMatching(/No space left on device$/)]);
});

test("F82 a PostgreSQL on a full disk is 507, and used again once there is room", async ({ skip }) => {
  const postgres = inject("postgres");
  const server = postgres !== undefined && "url" in postgres ? postgres.url : "";
  const { uid = 0 } = postgresUser();
  const disk = await mountSmallDisk(60_000, { uid });
  if ("reason" in disk) return skip(disk.reason);
  const client = new Client({ connectionString: server });
  await client.connect();
  const name = `full_${process.pid}`;
  await client.query(`CREATE TABLESPACE ${name} LOCATION '${disk.folder}'`);
  await client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} TABLESPACE ${name}`);
  const { log, errors } = keptErrors();
  const plane = await startControlPlane({ database: new Secret(URL.parse(name, server)?.href ?? ""), log });
  try {
    await plantWorkspace(plane.admin);
    // Nothing that PostgreSQL could make small.
    const noise = () => Array.from({ length: 40_000 }, () => Math.random().toString(36).slice(2, 4)).join("");
    const large = { ...service, env: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`V${n}`, noise()])) };
    disk.fill();
    const replies = await Promise.all([1, 2].map(() => plane.admin.put(APPS, { manifest: large })));
    for (const reply of replies) expect(reply).toMatchObject(refused);
    expect((await plane.admin.get(APPS)).body.pagination.total).toBe(0);
    expect((await plane.admin.get("/api/svc/v1/clusters")).body.data).toMatchObject([{ name: cluster.name }]);
    disk.free();
    expect(await readyAt(plane.url)).toEqual([200, { status: "ready" }]);
    expect((await plane.admin.put(APPS, { manifest: large })).status).toBe(200);
    // What is small may find room between the two, which begins the condition anew.
    expect(new Set(errors)).toEqual(new Set([expect.stringMatching(/No space left on device$/)]));
    expect(errors.length).toBeLessThanOrEqual(replies.length);
  } finally {
    await plane.close();
    await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await client.query(`DROP TABLESPACE ${name}`);
    await client.end();
  }
});
