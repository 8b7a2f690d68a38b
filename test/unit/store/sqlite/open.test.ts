import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runStatements, type Statement, statementFactory } from "../../../../src/store/prepared-query.ts";
import { openSqliteStore } from "../../../../src/store/sqlite/open.ts";
import type { Store } from "../../../../src/store/store.ts";
import { isUniqueViolation, storeErrorCode } from "../../../../src/store/store-error.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { machine } from "../../../support/machine.ts";
import { startNode } from "../../../support/process.ts";
import { migrations, type Note, type Tables } from "../notes.ts";

async function opened(path: string) {
  const store = await openSqliteStore<Tables>(path, migrations, machine);
  onTestFinished(() => store.close());
  return {
    ...store,
    write: (statements: readonly Statement[]) => store.write((transaction) => runStatements(transaction, statements)),
  };
}

async function fresh() {
  const folder = await temporaryFolder();
  const path = join(folder, "a.db");
  return { folder, path, store: await opened(path) };
}

function adding({ read }: Pick<Store<Tables>, "read">): (id: number, text?: string) => Statement {
  const note = statementFactory<Tables, Note>(read, (database, { id, text }) =>
    database.insertInto("notes").values({ id, text }),
  );
  return (id, text = "a note") => note({ id, text });
}

async function notesIn({ read }: Pick<Store<Tables>, "read">): Promise<readonly Note[]> {
  return read.selectFrom("notes").selectAll().orderBy("id").execute();
}

async function idsIn(store: Pick<Store<Tables>, "read">): Promise<readonly number[]> {
  return (await notesIn(store)).map(({ id }) => id);
}

/** A program of its own that opens a store, made before, as `store` and adds notes with `add`. */
function program(path: string, script: string): string {
  const ours = (module: string) => JSON.stringify(import.meta.resolve(`../../../../src/store/${module}`));
  return `
    import { openSqliteStore } from ${ours("sqlite/open.ts")};
    import { runStatements } from ${ours("prepared-query.ts")};
    import { systemClock } from ${ours("../clock/system.ts")};
    import { storeErrorCode } from ${ours("store-error.ts")};
    const steps = { "0001-notes": { up: async () => {} } };
    const store = await openSqliteStore(${JSON.stringify(path)}, steps, { clock: systemClock });
    const insert = (id, text) => [{ sql: "insert into notes values (?, ?)", values: [id, text] }];
    const add = (id, text = "a note") => store.write((transaction) => runStatements(transaction, insert(id, text)));
    ${script}`;
}

describe("a store in a file that is written by statements", () => {
  test("has what was written, in its order, after opening again", async () => {
    const { path, store } = await fresh();
    const add = adding(store);
    const change = statementFactory<Tables, { readonly text: string }>(store.read, (database, { text }) =>
      database.updateTable("notes").set({ text }),
    );
    const last = 300;
    await Promise.all(
      Array.from({ length: last + 1 }, (_, id) => store.write([add(id), change({ text: `after ${id}` })])),
    );
    await store.close();
    const again = await opened(path);
    expect(await idsIn(again)).toEqual(Array.from({ length: last + 1 }, (_, id) => id));
    expect(new Set((await notesIn(again)).map(({ text }) => text))).toEqual(new Set([`after ${last}`]));
  });

  test("shows a reader what was written as soon as that is answered, and nothing before", async () => {
    const { store } = await fresh();
    const writing = store.write([adding(store)(1)]);
    expect(await idsIn(store)).toEqual([]);
    await writing;
    expect(await idsIn(store)).toEqual([1]);
  });

  test("rolls back a change that fails, and commits the others of its batch", async () => {
    const { store } = await fresh();
    const add = adding(store);
    await store.write([add(2)]);
    const outcomes = await Promise.allSettled([[add(1)], [add(3), add(2)], [add(4)]].map((one) => store.write(one)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes.map((one) => (one.status === "rejected" ? isUniqueViolation(one.reason) : null))).toEqual([
      null,
      true,
      null,
    ]);
    expect(await idsIn(store)).toEqual([1, 2, 4]);
  });

  test("stores byte arrays that are given twice or are views of a buffer, and leaves them unchanged", async () => {
    const { store } = await fresh();
    const insert = (id: number, bytes: Uint8Array) => ({ sql: "insert into notes values (?, ?)", values: [id, bytes] });
    const whole = Buffer.allocUnsafeSlow(3).fill("w");
    const memory = Buffer.from("memory of many");
    const [one, two] = [memory.subarray(0, 6), memory.subarray(7)];
    await store.write([insert(1, whole), insert(2, whole), insert(3, one), insert(4, two), insert(5, one)]);
    await store.write([insert(6, two), insert(7, new Uint8Array(0))]);
    const texts = (await notesIn(store)).map(({ text }) => Buffer.from(text ?? []).toString());
    expect(texts).toEqual(["www", "www", "memory", "of many", "memory", "of many", ""]);
    expect([whole.toString(), memory.toString()]).toEqual(["www", "memory of many"]);
  });

  test("does not keep the process alive", async () => {
    const { folder, path, store } = await fresh();
    await store.write([adding(store)(1)]);
    const child = startNode(["--input-type=module", "-e", program(path, "await add(2);")], { cwd: folder });
    expect(await child.ended).toMatchObject({ code: 0 });
    expect(await idsIn(store)).toEqual([1, 2]);
  });

  test("waits for the writes under way when it is closed, and refuses later ones", async () => {
    const { path, store } = await fresh();
    const add = adding(store);
    const writing = [1, 2, 3].map((id) => store.write([add(id)]));
    await store.close();
    await Promise.all(writing);
    await expect(store.write([add(4)])).rejects.toThrow("the database is closed");
    expect(await idsIn(await opened(path))).toEqual([1, 2, 3]);
  });

  test("fails on a full disk, loses nothing that it acknowledged, and works again when there is space", async () => {
    const { folder, path, store } = await fresh();
    await store.close();
    const script = program(
      path,
      `const answered = [];
       const outcomes = [];
       for (let id = 1; id <= 40; id += 1) {
         await add(id, "x".repeat(20_000)).then(() => answered.push(id), (error) => outcomes.push(error));
       }
       const each = (of) => [...new Set(outcomes.map(of))];
       console.log(JSON.stringify({ answered, faults: each(storeErrorCode), messages: each((error) => error.message) }));`,
    );
    const child = startNode(["--input-type=module", "-e", script], { cwd: folder, mostBlocks: 512 });
    const { stdout, stderr } = await child.ended;
    expect(stderr).toBe("");
    const { answered, faults, messages } = JSON.parse(stdout);
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.length).toBeLessThan(40);
    expect(faults).toEqual(["full"]);
    expect(messages).toEqual([`${path}: no space is left on the disk, or a quota or limit is used up`]);
    const again = await opened(path);
    expect(await idsIn(again)).toEqual(answered);
    await again.write([adding(again)(100)]);
    expect(await idsIn(again)).toEqual([...answered, 100]);
  });

  test("has everything that it answered before the process was killed", async () => {
    const { folder, path, store } = await fresh();
    await store.close();
    const script = program(
      path,
      `let id = 0;
       const writer = async () => { for (;;) { const mine = ++id; await add(mine); process.stdout.write(mine + "\\n"); } };
       await Promise.all(Array.from({ length: 8 }, writer));`,
    );
    const child = startNode(["--input-type=module", "-e", script], { cwd: folder });
    await child.shows("stdout", /^100$/m);
    child.kill("SIGKILL");
    const { stdout } = await child.ended;
    const answered = [...stdout.matchAll(/^(\d+)\n/gm)].map(([, id]) => Number(id));
    const found = new Set(await idsIn(await opened(path)));
    expect(answered.length).toBeGreaterThanOrEqual(90);
    expect(answered.filter((id) => !found.has(id))).toEqual([]);
  });
});

test("a change whose fault is the database's own says which", async () => {
  const { store } = await fresh();
  const broken = store.write([{ sql: "insert into absent values (1)", values: [] }]);
  await expect(broken).rejects.toThrow("no such table: absent");
  await expect(broken.catch(storeErrorCode)).resolves.toBeNull();
});
