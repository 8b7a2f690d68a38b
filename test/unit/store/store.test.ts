import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { holdExclusiveLock } from "../../../src/store/lock-file.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { isUniqueViolation } from "../../../src/store/store-error.ts";
import { machine } from "../../support/machine.ts";
import { startNode } from "../../support/process.ts";
import { migrations, type Tables } from "./notes.ts";

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function opened(path: string) {
  const store = await openSqliteStore<Tables>(path, migrations, machine);
  onTestFinished(() => store.close());
  return store;
}

async function idsIn({ read }: { readonly read: Kysely<Tables> }): Promise<readonly number[]> {
  const rows = await read.selectFrom("notes").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

test("what was written is there after opening again", async () => {
  const path = join(await folder(), "a.db");
  const first = await opened(path);
  await first.write((transaction) => transaction.insertInto("notes").values({ id: 1, text: "a" }).execute());
  await first.close();
  const second = await opened(path);
  expect(await idsIn(second)).toEqual([1]);
});

test("writes made at once all succeed, in their order", async () => {
  const store = await opened(join(await folder(), "a.db"));
  const ids = Array.from({ length: 300 }, (_, id) => id);
  const seen = await Promise.all(
    ids.map((id) =>
      store.write(async (transaction) => {
        await transaction.insertInto("notes").values({ id, text: null }).execute();
        return (await transaction.selectFrom("notes").select("id").execute()).length;
      }),
    ),
  );
  expect(seen).toEqual(ids.map((id) => id + 1));
  expect(await idsIn(store)).toEqual(ids);
});

test("a write that throws is rolled back, and the others of its batch stay", async () => {
  const store = await opened(join(await folder(), "a.db"));
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map((id) =>
      store.write(async (transaction) => {
        await transaction.insertInto("notes").values({ id, text: null }).execute();
        if (id === 2) throw new Error("no");
        return id;
      }),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await idsIn(store)).toEqual([1, 3]);
});

test("a violated constraint is recognised", async () => {
  const store = await opened(join(await folder(), "a.db"));
  const insert = () =>
    store.write((transaction) => transaction.insertInto("notes").values({ id: 1, text: null }).execute());
  await insert();
  await expect(insert()).rejects.toSatisfy(isUniqueViolation);
});

test("a reader sees nothing of a write that is not committed", async () => {
  const store = await opened(join(await folder(), "a.db"));
  const during = await store.write(async (transaction) => {
    await transaction.insertInto("notes").values({ id: 1, text: null }).execute();
    return idsIn(store);
  });
  expect(during).toEqual([]);
  expect(await idsIn(store)).toEqual([1]);
});

test("concurrent writes of two processes all succeed", async () => {
  const path = join(await folder(), "a.db");
  const store = await opened(path);
  const script = `
    import { openSqliteConnection } from ${JSON.stringify(import.meta.resolve("../../../src/store/sqlite/open-connection.ts"))};
    const database = openSqliteConnection(${JSON.stringify(path)});
    const insert = database.prepare("INSERT INTO notes (id) VALUES (?)");
    console.log("ready");
    for (let id = 1; id <= 150; id += 1) insert.run(-id);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  for (let id = 1; id <= 150; id += 1) {
    await store.write(async (transaction) => {
      // What is read first must still be so when it comes to writing.
      await transaction.selectFrom("notes").select("id").execute();
      await transaction.insertInto("notes").values({ id, text: null }).execute();
    });
  }
  expect(await ended).toEqual([0, null]);
  expect(await idsIn(store)).toHaveLength(300);
});

test("F72 a commit on a full disk fails with that error, although SQLite has rolled back by itself", async () => {
  const path = join(await folder(), "a.db");
  const store = await opened(path);
  await store.close();
  const module = (name: string) => JSON.stringify(import.meta.resolve(`../../../src/store/${name}`));
  const script = `
    import { openSqliteStore } from ${module("sqlite/open.ts")};
    import { systemClock } from ${module("../clock/system.ts")};
    import { storeErrorCode } from ${module("store-error.ts")};
    const store = await openSqliteStore(${JSON.stringify(path)}, { "0001-notes": { up: async () => {} } }, { clock: systemClock });
    const add = (id) => store.write((transaction) =>
      transaction.insertInto("notes").values({ id, text: "x".repeat(20_000) }).execute());
    const faults = new Set();
    for (let id = 1; id <= 40; id += 1) await add(id).catch((error) => faults.add(storeErrorCode(error)));
    console.log(JSON.stringify([...faults]));`;
  const child = startNode(["--input-type=module", "-e", script], { cwd: await folder(), mostBlocks: 512 });
  expect(JSON.parse((await child.ended).stdout)).toEqual(["full"]);
});

test("closing waits for the writes under way and refuses later ones", async () => {
  const path = join(await folder(), "a.db");
  const store = await opened(path);
  const writing = store.write((transaction) => transaction.insertInto("notes").values({ id: 1, text: null }).execute());
  await store.close();
  await writing;
  await expect(store.write(async () => null)).rejects.toThrow("closed");
  expect(await idsIn(await opened(path))).toEqual([1]);
});

test("a database that a newer release has changed is refused", async () => {
  const path = join(await folder(), "a.db");
  await (await openSqliteStore(path, { ...migrations, "0002-later": { up: async () => {} } }, machine)).close();
  await expect(openSqliteStore(path, migrations, machine)).rejects.toMatchObject({ code: "newer-schema" });
});

test("a file that is no database is refused, and left as it is", async () => {
  const path = join(await folder(), "a.db");
  await writeFile(path, "this is not a database, but it is long enough to be looked at ".repeat(40));
  await expect(openSqliteStore(path, migrations, machine)).rejects.toMatchObject({ code: "corrupt" });
});

test("a folder that is absent is named", async () => {
  const path = join(await folder(), "absent", "a.db");
  await expect(openSqliteStore(path, migrations, machine)).rejects.toMatchObject({
    code: "inaccessible",
    message: expect.stringContaining(path),
  });
});

test("a lock is held by one process, and free after its release", async () => {
  const path = join(await folder(), "lock.db");
  const held = holdExclusiveLock(path);
  expect(held).not.toBeNull();
  expect(holdExclusiveLock(path)).toBeNull();
  await held?.[Symbol.asyncDispose]();
  const again = holdExclusiveLock(path);
  expect(again).not.toBeNull();
  await again?.[Symbol.asyncDispose]();
});

test("a lock is free once the process that held it was killed", async () => {
  const path = join(await folder(), "lock.db");
  const script = `
    import { holdExclusiveLock } from ${JSON.stringify(import.meta.resolve("../../../src/store/lock-file.ts"))};
    globalThis.lock = holdExclusiveLock(${JSON.stringify(path)});
    setInterval(() => {}, 1000);
    console.log(lock === null ? "refused" : "held");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said] = await once(child.stdout, "data");
  expect(String(said)).toBe("held\n");
  expect(holdExclusiveLock(path)).toBeNull();
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = holdExclusiveLock(path);
  expect(lock).not.toBeNull();
  await lock?.[Symbol.asyncDispose]();
});
