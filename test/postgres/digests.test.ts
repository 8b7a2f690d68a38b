import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/contract/secret.ts";
import { markerSums } from "../../src/server/database/digests.ts";
import { type SharedSums, sharedSums } from "../../src/server/database/known-sums.ts";
import { serverMigrations } from "../../src/server/database/migrations.ts";
import type { Tables } from "../../src/server/database/tables.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { temporaryFolder } from "../control-plane.ts";
import { eventually } from "../support/eventually.ts";
import { machine } from "../support/machine.ts";
import { randomFrom } from "../support/random.ts";
import { databaseOf } from "../support/test-database.ts";

const SAVE = `INSERT INTO digests (prefix, name, marker) VALUES ($1, $2, $3)
  ON CONFLICT (prefix, name) DO UPDATE SET marker = excluded.marker`;

async function openDigests(writers: number) {
  const url = (await databaseOf(await temporaryFolder())) ?? "";
  const store = await openPostgresStore<Tables>(new Secret(url), serverMigrations, machine);
  onTestFinished(() => store.close());
  const clients = Array.from({ length: writers }, () => new Client({ connectionString: url }));
  for (const client of clients) {
    await client.connect();
    onTestFinished(() => client.end());
  }
  return { read: store.read, clients };
}

const seed = Number(process.env.SEED ?? Date.now());

test(`what is known of the sums is brought up to date, whatever is committed in which order (seed ${seed})`, async () => {
  const { read, clients } = await openDigests(4);
  const chance = randomFrom(seed);
  const pick = (below: number): number => Math.floor(chance() * below);
  const open = new Set<number>();
  // Of two readers, one of which looks seldom.
  const known: (SharedSums | undefined)[] = [undefined, undefined];
  for (let step = 0; step < 400; step += 1) {
    const nth = pick(clients.length);
    const client = clients[nth];
    if (open.has(nth) && chance() < 0.4) {
      await client?.query(chance() < 0.8 ? "COMMIT" : "ROLLBACK");
      open.delete(nth);
    } else {
      if (!open.has(nth)) await client?.query("BEGIN");
      open.add(nth);
      if (chance() < 0.2) await client?.query("SAVEPOINT one");
      // Each writer has names of its own, so that none waits for another one.
      await client?.query(SAVE, [`service/dev:w${pick(30)}/`, `s${nth}-${pick(3)}`, pick(2 ** 40)]);
    }
    for (const reader of chance() < 0.1 ? [0, 1] : [0]) {
      known[reader] = await sharedSums(read, known[reader]);
      expect({ step, sums: known[reader]?.sums }).toEqual({ step, sums: await markerSums(read, "") });
    }
  }
});

test("only what has changed is read again, and everything where much has, or where the rows are those of a backup", async () => {
  const { read, clients } = await openDigests(1);
  const write = (text: string) => clients[0]?.query(text);
  await write(
    "INSERT INTO digests (prefix, name, marker) SELECT 'service/dev:w' || n || '/', 'a', n FROM generate_series(1, 100) n",
  );
  const kept = (sums: SharedSums): number => sums.sums.filter(({ count }) => count === 7).length;
  // A sum that was not read again stays as it was known. A transaction of any database that is older delays that.
  const altered = () =>
    eventually("no earlier transaction runs", async () => {
      const first = await sharedSums(read, undefined);
      const known: SharedSums = { ...first, sums: first.sums.map((one) => ({ ...one, count: 7 })) };
      return kept(await sharedSums(read, known)) === 100 && known;
    });
  const known = await altered();
  const change = (most: number) =>
    write(`UPDATE digests SET marker = marker + 1 WHERE substring(prefix from '[0-9]+')::int <= ${most}`);
  await change(20);
  expect(kept(await sharedSums(read, known))).toBe(80);
  await change(21);
  expect(kept(await sharedSums(read, known))).toBe(0);
  const later = await altered();
  await write("BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM digests; TRUNCATE digests");
  await write("ALTER TABLE digests DISABLE TRIGGER USER; INSERT INTO digests SELECT * FROM kept");
  await write("ALTER TABLE digests ENABLE TRIGGER USER; COMMIT");
  expect(kept(await sharedSums(read, later))).toBe(0);
});
