import { readdirSync, readlinkSync, renameSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openSqliteStore } from "../../../../src/store/sqlite/open.ts";
import { openSqliteReadOnly } from "../../../../src/store/sqlite/open-read-only.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { migrations, type Tables } from "../notes.ts";

// The times at which something waits, each of which passes when the test says so.
function steppedClock() {
  const waiting = new Set<() => void>();
  const after = (_: number, call: () => void): Disposable => {
    waiting.add(call);
    return { [Symbol.dispose]: () => void waiting.delete(call) };
  };
  const pass = (): void => {
    for (const call of [...waiting]) {
      waiting.delete(call);
      call();
    }
  };
  return { clock: { ...machine.clock, after }, pass, waiting };
}

// The descriptors of this process that have a file open.
function openFiles(path: string): number {
  const names = readdirSync("/proc/self/fd").flatMap((fd) => linkOf(fd));
  return names.filter((name) => name.startsWith(path)).length;
}

// The listing itself has a descriptor that is closed by then.
function linkOf(fd: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${fd}`)];
  } catch {
    return [];
  }
}

async function opened() {
  const path = join(await temporaryFolder(), "a.db");
  const stepped = steppedClock();
  const store = await openSqliteStore<Tables>(path, migrations, { clock: stepped.clock, closesIdle: true });
  onTestFinished(() => store.close());
  const write = (id: number) =>
    store.write((transaction) =>
      transaction
        .insertInto("notes")
        .values({ id, text: `${id}` })
        .execute(),
    );
  const ids = async () => (await store.read.selectFrom("notes").select("id").execute()).map(({ id }) => id);
  return { path, store, write, ids, ...stepped };
}

test("a store that nobody uses has no file open, and is opened again when it is used", async () => {
  const { path, write, ids, pass } = await opened();
  await write(1);
  pass();
  expect(openFiles(path)).toBeGreaterThan(0);
  pass();
  expect(openFiles(path)).toBe(0);
  expect(await ids()).toEqual([1]);
  await write(2);
  expect(await ids()).toEqual([1, 2]);
});

test("a store stays open while a transaction is under way", async () => {
  const { path, store, ids, pass } = await opened();
  const written = store.write(async (transaction) => {
    await transaction.insertInto("notes").values({ id: 1, text: "1" }).execute();
    pass();
    pass();
    pass();
    await transaction.insertInto("notes").values({ id: 2, text: "2" }).execute();
  });
  await written;
  expect(openFiles(path)).toBeGreaterThan(0);
  expect(await ids()).toEqual([1, 2]);
});

test("a file that was replaced while it was closed is neither read nor written", async () => {
  const { path, store, write, ids, pass } = await opened();
  await write(1);
  pass();
  pass();
  await copyFile(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  await expect(ids()).rejects.toMatchObject({ code: "inaccessible" });
  await expect(write(2)).rejects.toMatchObject({ code: "inaccessible" });
  expect(await store.unwritable()).toBe("inaccessible");
});

test("a closed store is not opened again, and waits for nothing", async () => {
  const { path, store, ids, waiting } = await opened();
  await store.close();
  await expect(ids()).rejects.toThrow("the database is closed");
  expect(openFiles(path)).toBe(0);
  expect(waiting.size).toBe(0);
});

test("a store that is only read is closed and opened again in the same way", async () => {
  const { path, store, write } = await opened();
  await write(1);
  await store.close();
  const { clock, pass } = steppedClock();
  await using readOnly = await openSqliteReadOnly<Tables>(path, migrations, clock);
  pass();
  pass();
  expect(openFiles(path)).toBe(0);
  expect(await readOnly.read.selectFrom("notes").select("id").execute()).toEqual([{ id: 1 }]);
});
