import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { parseKey } from "../../src/seal/seal-key.ts";
import { databaseStateAt, exportState, importState, stateAt } from "../../src/state/open-state.ts";
import type { StateAccess } from "../../src/state/state.ts";
import { takeDatabaseLock } from "../../src/store/postgres/session.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { CANARY, intent, receipt } from "../support/sample-ledger.ts";
import { databaseOf } from "../support/test-database.ts";

const keyText = "11".repeat(32);
const options = { ...machine, keyText, exportKey: parseKey("ab".repeat(32)) };
const otherKey = { ...options, keyText: "22".repeat(32) };
const targets = [null, "prod-eu", "prod_eu", "tokens"];

async function database() {
  const folder = await temporaryFolder();
  const url = (await databaseOf(folder, "template1")) ?? "";
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const address = new Secret(url);
  const access = (target: string | null = null) => databaseStateAt({ address, target, folder }, machine);
  const schemas = async () =>
    (await client.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^holdfast' ORDER BY 1")).rows;
  return { client, access, schemas, state: { folder, database: address } };
}

async function newFolder() {
  const folder = join(await temporaryFolder(), "new");
  const access = (target: string | null = null) =>
    stateAt(target === null ? folder : join(folder, "targets", target), machine);
  return { access, state: { folder, database: null } };
}

const pass = (endedAt: string) => ({ startedAt: endedAt, endedAt, result: "applied", counts: {} });
const SERVER = "http://server";

const action = (content: string) => {
  return { key: "asked", content, interrupted: { record: pass("2026-11-29T10:30:00.000Z"), failure: null } as never };
};

/** Stores something of every kind, of which no two targets have the same. */
async function fill(opened: StateAccess, name: string, key = keyText) {
  await using access = opened;
  const state = await access.open({ keyText: key });
  const ledger = await state.ledger(SERVER);
  const names = Array.from({ length: 450 }, (_, at) => `${name}-${at}`);
  await ledger.record(names.map(receipt));
  await ledger.begin({ ...intent(`intent-${name}`), ignored: [["replicas"]] });
  await ledger.keepReply(`intent-${name}`, Buffer.from(`{"token":"${CANARY}"}`));
  await ledger.storeFacts({ grants: { name } } as never);
  const target = await access.target();
  const hold = { what: "team/ml" as const, reason: name, until: "commit" as const, content: "one" };
  await target.decide(() => ({ holds: [hold], released: ["abc", "abd"] }) as never);
  await target.takeAction(action(name), { now: 0, forMs: 1e9 });
  await target.endAction("asked", { record: pass("2026-11-29T10:30:00.000Z"), failure: null } as never);
  const identity = `team/${name}`;
  const event = { identity, state: "failed", hasDrifted: true, at: "2026-11-29T10:00:00.000Z" };
  await target.keep({
    status: { target: name } as never,
    // More than a write that finds a number taken is tried again.
    records: Array.from({ length: 15 }, (_, at) => pass(`2026-11-29T10:${10 + at}:00.000Z`)) as never,
    resources: {
      isWhole: false,
      at: event.at,
      statuses: [event],
      changed: new Map([[identity, { fields: [], leftOut: 1, cut: 0 }]]),
    } as never,
    memory: { appliedCommit: name } as never,
  });
  await target.keepGateReceipts([{ identity, content: "c", gate: "g", at: "2026" } as never]);
  await target.advance(() => ({ name }) as never);
  await target.keepExpansion({ name } as never);
  await target.keepReviewedPlan({ plan: { id: name, at: "2026-11-29T10:00:00.000Z" } } as never);
}

/** All that a state says. */
async function contentOf(opened: StateAccess, key = keyText) {
  await using access = opened;
  const ledger = await (await access.open({ keyText: key, reading: true })).ledger(SERVER);
  const target = await access.target();
  const page = { limit: 1000 };
  return {
    receipts: [...(await ledger.recorded()).values()].toSorted((a, b) => (a.identity < b.identity ? -1 : 1)),
    digests: [...(await ledger.heads()).values()].map(({ digest }) => digest !== undefined),
    pending: await ledger.pending(),
    facts: await ledger.facts(),
    decisions: await target.decisions(),
    status: await target.status(),
    memory: await target.memory(),
    passes: await target.passes(page),
    events: await target.events({ withChanges: true }, page),
    unsettled: await target.unsettled({}, page),
    gates: await target.gateReceipts(null),
    progress: await target.progress(),
    expansion: await target.expansion(),
    plans: await target.reviewedPlans("", page),
    action: await target.takeAction(action("other"), { now: 0, forMs: 1 }),
  };
}

test("a state goes from a folder to a database, to another one, and back, and says the same of each target", async () => {
  const first = await newFolder();
  for (const target of targets) await fill(first.access(target), target ?? "none");
  const before = await Promise.all(targets.map((target) => contentOf(first.access(target))));
  expect(before[0]?.receipts).toHaveLength(450);
  expect(before[0]?.unsettled.entries).toHaveLength(1);
  const places = [first, await database(), await database(), await newFolder()];
  const keys = [options, options, otherKey, options];
  for (const [at, to] of places.entries()) {
    if (at === 0) continue;
    const [from, key = options, toKey = options] = [places[at - 1] ?? first, keys[at - 1], keys[at]];
    const exported = join(await temporaryFolder(), "exported");
    expect(await exportState(from.state, exported, key)).toEqual({ ledgers: 4, tokens: 0 });
    for (const file of readdirSync(exported, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".db"),
    )) {
      using copy = new DatabaseSync(join(exported, file), { readOnly: true });
      expect(JSON.stringify(copy.prepare("SELECT * FROM receipt LIMIT 1").all())).not.toContain(CANARY);
    }
    expect(await importState(exported, to.state, toKey)).toEqual({ ledgers: 4, tokens: 0 });
    const after = await Promise.all(targets.map((target) => contentOf(to.access(target), toKey.keyText)));
    expect(after).toEqual(before);
  }
});

test("what is recorded after an import goes on where the numbers of its rows end", async () => {
  const [from, to] = [await newFolder(), await database()];
  await fill(from.access(), "none");
  const exported = join(await temporaryFolder(), "exported");
  await exportState(from.state, exported, options);
  await importState(exported, to.state, options);
  await using access = to.access();
  const target = await access.target();
  await target.keep({ status: { target: "none" } as never, records: [pass("2026-11-29T12:00:00.000Z")] as never });
  const { entries } = await target.passes({ limit: 2 });
  expect(entries.map(({ endedAt }) => endedAt.slice(11, 16))).toEqual(["12:00", "10:24"]);
});

async function exportedOf(names: readonly (string | null)[]) {
  const from = await newFolder();
  for (const target of names) await fill(from.access(target), target ?? "none");
  const exported = join(await temporaryFolder(), "exported");
  await exportState(from.state, exported, options);
  return exported;
}

test("a database with a ledger is refused, and one that a status has only created is taken", async () => {
  const exported = await exportedOf([null, "prod"]);
  const to = await database();
  {
    await using access = to.access("other");
    await (await access.target()).decide(() => ({ holds: [], released: ["abc"] }));
  }
  const before = await to.schemas();
  await expect(importState(exported, to.state, options)).rejects.toMatchObject({
    code: "refused",
    message: expect.stringContaining("(schema holdfast_other_"),
    hint: expect.stringContaining("DROP SCHEMA holdfast_other_"),
  });
  expect(await to.schemas()).toEqual(before);
  const created = await database();
  await using access = created.access("prod");
  expect(await (await access.target()).status()).toBeNull();
  await importState(exported, created.state, options);
  // Also for a process that has it open.
  expect(await (await access.target()).status()).toEqual({ target: "prod" });
  await expect(importState(exported, created.state, options)).rejects.toMatchObject({ code: "refused" });
});

test("a database is refused while a process writes with it, or imports into it", async () => {
  const exported = await exportedOf([null]);
  const to = await database();
  {
    await using access = to.access("prod");
    await using lock = await (await access.open({ keyText })).lock();
    expect(lock.number).toBe(1);
    await expect(importState(exported, to.state, options)).rejects.toMatchObject({
      code: "locked",
      message: expect.stringContaining(`: process ${process.pid} on `),
    });
  }
  {
    await using _ = await takeDatabaseLock(to.state.database, "state import", machine.clock);
    await expect(importState(exported, to.state, options)).rejects.toMatchObject({ code: "locked" });
  }
  expect(await importState(exported, to.state, options)).toEqual({ ledgers: 1, tokens: 0 });
});

test("an import that cannot take in one of the ledgers leaves nothing, and deletes what a killed one has left", async () => {
  const exported = await exportedOf([null, "prod"]);
  const to = await database();
  // Killed before it had a table, and while it was filled.
  await to.client.query("CREATE SCHEMA holdfast_importing_0123abcd_1; CREATE SCHEMA holdfast_importing_0123abcd_2");
  await to.client.query("CREATE TABLE holdfast_importing_0123abcd_2.receipt (one int)");
  await to.client.query("CREATE SCHEMA holdfast_importing_of_others");
  // The second ledger finds no place for its events.
  await to.client.query(`
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_schema() ~ '_2$' AND tg_tag = 'CREATE TABLE' THEN RAISE EXCEPTION 'no place'; END IF;
    END $$`);
  await to.client.query("CREATE EVENT TRIGGER refuse ON ddl_command_end EXECUTE FUNCTION refuse()");
  await expect(importState(exported, to.state, options)).rejects.toThrow();
  expect(await to.schemas()).toEqual([{ nspname: "holdfast_importing_of_others" }]);
  expect(existsSync(join(to.state.folder, "importing"))).toBe(false);
  await to.client.query("DROP EVENT TRIGGER refuse");
  expect(await importState(exported, to.state, options)).toEqual({ ledgers: 2, tokens: 0 });
});

test("an export has what a target had at one moment, whatever is written while it is read", async () => {
  const [from, to] = [await database(), await newFolder()];
  await fill(from.access(), "none");
  const { client } = from;
  // Read after the receipts, and before the released commits.
  await client.query("BEGIN; LOCK TABLE holdfast.intent IN ACCESS EXCLUSIVE MODE");
  const exported = join(await temporaryFolder(), "exported");
  const exporting = exportState(from.state, exported, options);
  const waiting = `SELECT count(*)::int AS count FROM pg_locks WHERE NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  await expect.poll(async () => (await client.query(waiting)).rows).toEqual([{ count: 1 }]);
  await client.query("INSERT INTO holdfast.released (commit) VALUES ('late'); COMMIT");
  await exporting;
  await importState(exported, to.state, options);
  expect((await contentOf(to.access())).decisions.released).toEqual(["abc", "abd"]);
  expect((await contentOf(from.access())).decisions.released).toEqual(["abc", "abd", "late"]);
});

test("an export of a database needs its key and its release, and leaves nothing where it fails", async () => {
  const from = await database();
  const folder = await temporaryFolder();
  const to = join(folder, "exported");
  await expect(exportState(from.state, to, options)).rejects.toMatchObject({ code: "invalid" });
  await fill(from.access("prod"), "prod");
  const [{ nspname: schema }] = await from.schemas();
  await expect(exportState(from.state, to, { ...options, keyText: null })).rejects.toMatchObject({ code: "invalid" });
  await expect(exportState(from.state, to, otherKey)).rejects.toMatchObject({
    message: expect.stringContaining(`(schema ${schema}) was sealed with another key`),
    hint: expect.stringContaining("HOLDFAST_STATE_KEY_FILE"),
  });
  await from.client.query(`INSERT INTO ${schema}.holdfast_migration VALUES ('999-of-tomorrow', '2027-01-01')`);
  await expect(exportState(from.state, to, options)).rejects.toMatchObject({ code: "newer-schema" });
  await from.client.query(`DELETE FROM ${schema}.holdfast_migration WHERE name ~ '999|01[456789]'`);
  const newest = ["target", "cache", "key_check", "reviewed_plan", "resource_change", "action"];
  await from.client.query(`DROP TABLE ${newest.map((table) => `${schema}.${table}`).join(", ")}`);
  const older = { message: expect.stringContaining("older release"), hint: expect.stringContaining("holdfast status") };
  await expect(exportState(from.state, to, options)).rejects.toMatchObject(older);
  expect(readdirSync(folder)).toEqual([]);
  await using access = from.access("prod");
  await (await access.target()).status();
  expect(await exportState(from.state, to, options)).toEqual({ ledgers: 1, tokens: 0 });
  await from.client.query(`UPDATE ${schema}.target SET name = '../prod'`);
  await expect(exportState(from.state, `${to}-again`, options)).rejects.toThrow("has no name of a target");
});
