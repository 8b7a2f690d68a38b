import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { sql } from "kysely";
import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { newStatus } from "../../src/daemon/status-after-pass.ts";
import { databaseStateAt } from "../../src/state/open-state.ts";
import type { StateAccessOptions } from "../../src/state/state.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { temporaryFolder } from "../support/folder.ts";
import { machine } from "../support/machine.ts";
import { CANARY, intent, receipt } from "../support/sample-ledger.ts";
import { databaseOf } from "../support/test-database.ts";

const keyText = "11".repeat(32);

async function database() {
  const folder = await temporaryFolder();
  const url = (await databaseOf(folder, "template1")) ?? "";
  const connected = async () => {
    const opened = new Client({ connectionString: url });
    await opened.connect();
    onTestFinished(() => opened.end());
    return opened;
  };
  const client = await connected();
  const access = (target: string | null = null, more: Partial<StateAccessOptions> = {}) => {
    const opened = databaseStateAt({ address: new Secret(url), target, folder }, { ...machine, ...more });
    onTestFinished(() => opened[Symbol.asyncDispose]());
    return opened;
  };
  return { client, connected, access };
}

/** Breaks the connections that hold locks in this database, and not those of tests beside this one. */
async function breakLockSessions(client: Client) {
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
}

test("a run that lost its connection with the lock writes nothing once another one has taken over", async () => {
  const { client, access } = await database();
  const first = await access().open({ keyText });
  const ledger = await first.ledger("http://server");
  await using lock = await first.lock();
  expect(lock.leftBy).toBeNull();
  await ledger.record([receipt("before")]);
  await breakLockSessions(client);
  // Nobody has taken over yet.
  await ledger.record([receipt("still")]);
  const taker = access();
  const second = await taker.open({ keyText });
  await using taken = await second.lock();
  expect(taken.leftBy).toMatch(new RegExp(`^process ${process.pid} on `));
  const takenOver = { code: "locked", message: expect.stringContaining("has taken over the state in postgres://") };
  await expect(ledger.begin(intent())).rejects.toMatchObject(takenOver);
  await expect(ledger.record([receipt("late")])).rejects.toMatchObject(takenOver);
  const other = await second.ledger("http://server");
  expect(await other.pending()).toEqual([]);
  expect([...(await other.heads()).keys()]).toEqual([receipt("before").identity, receipt("still").identity]);
});

test("a run that is stopped without losing its connection has lost the lock when its lease ends, and stays without it", async () => {
  const { client, access } = await database();
  const first = await access().open({ keyText });
  const ledger = await first.ledger("http://server");
  const lock = await first.lock();
  const second = await access().open({ keyText });
  await expect(second.lock()).rejects.toMatchObject({ code: "locked", message: expect.stringContaining("process") });
  await client.query("UPDATE holdfast.writer_lease SET until = 0");
  await using taken = await second.lock();
  expect(taken.leftBy).toMatch(/^process /);
  const { rows: before } = await client.query("SELECT * FROM holdfast.writer_lease");
  await expect(ledger.record([receipt("late")])).rejects.toMatchObject({ code: "locked" });
  // Giving back what it no longer has takes nothing from the new holder.
  await lock[Symbol.asyncDispose]();
  expect((await client.query("SELECT * FROM holdfast.writer_lease")).rows).toEqual(before);
  await expect(first.lock()).rejects.toMatchObject({ code: "locked" });
});

test("a lease is renewed while its holder lives, also on a new connection", async () => {
  const { client, access } = await database();
  const first = await access().open({ keyText });
  await using lock = await first.lock();
  expect(lock.leftBy).toBeNull();
  await breakLockSessions(client);
  const until = async () => Number((await client.query("SELECT until FROM holdfast.writer_lease")).rows[0]?.until);
  const before = await until();
  await expect.poll(until).toBeGreaterThan(before);
  await expect((await access().open({ keyText })).lock()).rejects.toMatchObject({ code: "locked" });
});

test("whoever finds the lock taken is told so at once, also while a write of its holder goes on", async () => {
  const { client, connected, access } = await database();
  const first = await access().open({ keyText });
  const lock = await first.lock();
  // As a holder that is suspended within a write.
  const writing = await connected();
  await writing.query("BEGIN");
  await writing.query("SELECT 1 FROM holdfast.writer FOR SHARE");
  const second = await access().open({ keyText });
  await expect(second.lock()).rejects.toMatchObject({ code: "locked", message: expect.stringContaining("process") });
  await client.query("UPDATE holdfast.writer_lease SET until = 0");
  await expect(second.lock()).rejects.toMatchObject({ code: "locked" });
  await writing.query("ROLLBACK");
  await lock[Symbol.asyncDispose]();
  await using _ = await second.lock();
});

test("a transaction that sends nothing for too long is ended, so that nobody waits for the rows of a suspended process", async () => {
  const url = (await databaseOf(await temporaryFolder(), "template1")) ?? "";
  const limits = { ...machine, away: 0, deadline: 0 };
  const suspended = async (idleTransactionMs: number) => {
    await using store = await openPostgresStore(
      new Secret(url),
      {},
      { ...limits, namespace: "own", idleTransactionMs },
    );
    await store.write(async (transaction) => {
      await sql`SELECT 1`.execute(transaction);
      await machine.clock.sleep(600);
      await sql`SELECT 1`.execute(transaction);
    });
  };
  await suspended(30_000);
  await expect(suspended(200)).rejects.toMatchObject({ code: "unreachable" });
});

test("a database has no secret that can be read without the key, and refuses another key", async () => {
  const { client, access } = await database();
  const state = await access().open({ keyText });
  const ledger = await state.ledger("http://server");
  await ledger.record([receipt()]);
  await ledger.begin(intent());
  await ledger.keepReply("intent-1", Buffer.from(`{"token":"${CANARY}"}`));
  const texts = ["receipt", "intent"].map(async (table) => {
    const { rows } = await client.query(
      `SELECT encode(convert_to(t::text, 'UTF8'), 'escape') AS text FROM holdfast.${table} t`,
    );
    return rows.map(({ text }) => text).join();
  });
  const all = (await Promise.all(texts)).join();
  expect(all).toContain(receipt().identity);
  for (const secret of [CANARY, Buffer.from(CANARY).toString("hex")]) expect(all).not.toContain(secret);
  const other = await access().open({ keyText: "22".repeat(32) });
  await expect(other.ledger("http://server")).rejects.toThrow("sealed with another key");
  await expect(access().open({ keyText: null })).rejects.toMatchObject({ code: "invalid" });
});

test("another key is refused also where holds alone are stored, which are not sealed", async () => {
  const { access } = await database();
  const storeWith = (key: string) => access(null, { readKey: () => key }).target();
  const another = "22".repeat(32);
  const hold = { what: "team/ml", reason: "incident", until: "commit" };
  // Whoever only looks decides nothing.
  expect(await (await storeWith(another)).status()).toBeNull();
  const store = await storeWith(keyText);
  await store.decide((before) => ({ ...before, holds: [hold] }));
  await expect((await storeWith(another)).decisions()).rejects.toThrow("sealed with another key");
  expect((await (await storeWith(keyText)).decisions()).holds).toHaveLength(1);
});

test("each target has its own schema, whatever their names have in common, beside the data of a control plane", async () => {
  const { client, access } = await database();
  await client.query("CREATE TABLE kysely_migration (name text)");
  for (const target of [null, "prod-eu", "prod_eu"]) {
    const store = await access(target).target();
    await store.keep({ status: newStatus(target ?? "none", null) });
  }
  for (const target of [null, "prod-eu", "prod_eu"])
    expect((await (await access(target).target()).status())?.target).toBe(target ?? "none");
  const { rows } = await client.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'holdfast%' ORDER BY 1");
  const suffix = expect.stringMatching(/^holdfast_prod_eu_[0-9a-f]{8}$/);
  expect(rows.map(({ nspname }) => nspname)).toEqual(["holdfast", suffix, suffix]);
});

test("the targets of a process share a few connections, and each sees its own state", async () => {
  const folder = await temporaryFolder();
  const url = (await databaseOf(folder, "template1")) ?? "";
  const address = new Secret(url);
  const targets = Array.from({ length: 12 }, (_, nth) => `target-${nth}`);
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const used = async () => {
    const { rows } = await client.query(
      "SELECT count(*)::int AS used FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'",
    );
    return rows[0].used;
  };
  const opened = targets.map((target) => databaseStateAt({ address, target, folder }, machine));
  const stores = await Promise.all(opened.map((one) => one.target()));
  await Promise.all(stores.map((store, nth) => store.keep({ status: newStatus(`target-${nth}`, null) })));
  const told = await Promise.all(stores.map((store) => store.status()));
  expect(told.map((status) => status?.target)).toEqual(targets);
  expect(await Promise.all(opened.map((one) => one.isLocked()))).toEqual(targets.map(() => false));
  expect(await used()).toBeLessThanOrEqual(8);
  const [first, ...others] = opened;
  await Promise.all(others.map((one) => one[Symbol.asyncDispose]()));
  expect((await stores[0]?.status())?.target).toBe("target-0");
  await first?.[Symbol.asyncDispose]();
  await vi.waitFor(async () => expect(await used()).toBe(0), { timeout: 30_000 });
});

test("a state of a newer release is refused, and nothing is changed", async () => {
  const { client, access } = await database();
  const state = await access().open({ keyText });
  await client.query("INSERT INTO holdfast.holdfast_migration VALUES ('999-of-tomorrow', '2027-01-01')");
  await expect(access().open({ keyText })).rejects.toMatchObject({ code: "newer-schema" });
  // Nor is it written by a process that had opened it before.
  await expect(state.lock()).rejects.toMatchObject({ code: "newer-schema" });
});

test("a database that does not answer is not waited for by a command that is stopped, before or meanwhile", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const address = new Secret(`postgres://u@127.0.0.1:${port}/none`);
  const place = { address, target: null, folder: await temporaryFolder() };
  const command = new AbortController();
  const answers = () => {
    const access = databaseStateAt(place, { ...machine, stopping: command.signal });
    onTestFinished(() => access[Symbol.asyncDispose]());
    const status = access.target().then((store) => store.status());
    return Promise.allSettled([status, access.exists(), access.isLocked()]);
  };
  const connected = once(silent, "connection");
  const meanwhile = answers();
  await connected;
  command.abort();
  const unanswered = { code: "unreachable", message: expect.stringContaining("not answered") };
  for (const answer of [...(await meanwhile), ...(await answers())])
    expect(answer).toMatchObject({ status: "rejected", reason: unanswered });
});

test("a state that is closed while its database does not answer fails for those alone who opened it", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const place = { address: new Secret(`postgres://u@127.0.0.1:${port}/none`), target: null };
  const access = databaseStateAt({ ...place, folder: await temporaryFolder() }, machine);
  const connected = once(silent, "connection");
  const opened = access.open({ keyText });
  const [socket] = await connected;
  const closed = access[Symbol.asyncDispose]();
  socket.destroy();
  await expect(opened).rejects.toMatchObject({ code: "unreachable" });
  await closed;
});
