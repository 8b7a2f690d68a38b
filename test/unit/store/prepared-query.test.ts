import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { preparedQuery } from "../../../src/store/prepared-query.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { machine } from "../../support/machine.ts";

type Note = { readonly id: string; readonly text: string | null; readonly kind: string };
type Tables = { readonly notes: Note };

const migrations = {
  "0001-notes": {
    up: async (database: Kysely<unknown>) => {
      const table = database.schema.createTable("notes").addColumn("id", "text", (column) => column.primaryKey());
      await table.addColumn("text", "text").addColumn("kind", "text").execute();
    },
  },
};

let built = 0;
const find = preparedQuery((database: Kysely<Tables>, { from, to }: { readonly from: string; readonly to: string }) => {
  built += 1;
  return database
    .selectFrom("notes")
    .selectAll()
    .where("id", "<=", to)
    .where("kind", "=", "slot")
    .where("id", ">=", from)
    .orderBy("id");
});
const save = preparedQuery((database: Kysely<Tables>, { id, text, kind }: Note) =>
  database
    .insertInto("notes")
    .values({ id, text, kind })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ text })),
);

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = await openSqliteStore<Tables>(join(folder, "a.db"), migrations, machine);
  onTestFinished(() => store.close());
  return store;
}

test("it runs with the values of each call, in any place, inside and outside transactions", async () => {
  const store = await opened();
  const notes = ["a", "b", "c"].map((id) => ({ id, text: id === "b" ? null : "t", kind: "slot" }));
  await store.write(async (transaction) => {
    for (const note of notes) await save(transaction, note);
    expect(await find(transaction, { from: "b", to: "b" })).toEqual([notes[1]]);
  });
  await store.write((transaction) => save(transaction, { id: "a", text: "other", kind: "unused" }));
  expect(await find(store.read, { from: "b", to: "c" })).toEqual(notes.slice(1));
  expect(await find(store.read, { from: "a", to: "a" })).toEqual([{ ...notes[0], text: "other" }]);
  // Once for the connection that writes, and once for the one that reads.
  expect(built).toBe(2);
});

test("it is compiled for each database separately", async () => {
  const [one, other] = [await opened(), await opened()];
  await one.write((transaction) => save(transaction, { id: "a", text: "t", kind: "slot" }));
  expect(await find(one.read, { from: "a", to: "z" })).toHaveLength(1);
  expect(await find(other.read, { from: "a", to: "z" })).toEqual([]);
});
