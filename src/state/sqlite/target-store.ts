import type { Kysely } from "kysely";
import type { TargetDecisions } from "../../core/holds.ts";
import type { PassRecord } from "../../core/report/target-status.ts";
import { KEPT_PASSES, type TargetStore } from "../target-store.ts";
import type { StateDatabase } from "./state-database.ts";
import { holdRow, passRow, type StateTables, statusRow } from "./state-schema.ts";

/** What a state folder remembers of its target. */
export function sqliteTargetStore({ readable, writable }: StateDatabase): TargetStore {
  return {
    decisions: async () => {
      const store = await readable();
      return store === null ? { holds: [], released: [] } : decisionsIn(store.read);
    },
    decide: async (change) =>
      (await writable()).change(async (database) => {
        const before = await decisionsIn(database);
        const after = change(before);
        if (JSON.stringify(after) !== JSON.stringify(before)) await replaceDecisions(database, after);
        return { before, after };
      }),
    status: async () => {
      const store = await readable();
      const row = await store?.read.selectFrom("status").select("status").executeTakeFirst();
      return row === undefined ? null : JSON.parse(row.status);
    },
    keep: async (status, records = []) => {
      const row = statusRow(status);
      await (await writable()).change(async (database) => {
        for (const record of records) await database.insertInto("pass").values(passRow(record)).execute();
        if (records.length > 0) await removeOldPasses(database);
        const { status } = row;
        await database
          .insertInto("status")
          .values(row)
          .onConflict((conflict) => conflict.column("one").doUpdateSet({ status }))
          .execute();
      });
    },
    passAt: async (at) => {
      const time = new Date(at).toISOString();
      const store = await readable();
      // Commits that a pass superseded have its times, and come before it.
      const row = await store?.read
        .selectFrom("pass")
        .select("record")
        .where("ended_at", ">=", time)
        .orderBy("ended_at")
        .orderBy("nth", "desc")
        .executeTakeFirst();
      const record: PassRecord | null = row === undefined ? null : JSON.parse(row.record);
      return record !== null && record.startedAt <= time ? record : null;
    },
    passes: async ({ limit, before }) => {
      const store = await readable();
      if (store === null) return { entries: [], next: null };
      const newest = store.read.selectFrom("pass").select(["nth", "record"]).orderBy("nth", "desc");
      const asked = before === undefined ? newest : newest.where("nth", "<", Number(before));
      const rows = await asked.limit(limit + 1).execute();
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return {
        entries: shown.map(({ record }) => JSON.parse(record)),
        next: rows.length > limit && last !== undefined ? String(last.nth) : null,
      };
    },
  };
}

async function decisionsIn(database: Kysely<StateTables>): Promise<TargetDecisions> {
  const holds = await database.selectFrom("hold").select("hold").orderBy("nth").execute();
  const released = await database.selectFrom("released").select("commit").orderBy("nth").execute();
  return { holds: holds.map(({ hold }) => JSON.parse(hold)), released: released.map(({ commit }) => commit) };
}

async function replaceDecisions(database: Kysely<StateTables>, { holds, released }: TargetDecisions): Promise<void> {
  await database.deleteFrom("hold").execute();
  await database.deleteFrom("released").execute();
  for (const hold of holds) await database.insertInto("hold").values(holdRow(hold)).execute();
  for (const commit of released) await database.insertInto("released").values({ commit }).execute();
}

async function removeOldPasses(database: Kysely<StateTables>): Promise<void> {
  const newest = await database
    .selectFrom("pass")
    .select(["nth", "ended_at"])
    .orderBy("nth", "desc")
    .executeTakeFirst();
  if (newest === undefined) return;
  const oldest = new Date(Date.parse(newest.ended_at) - KEPT_PASSES.ms).toISOString();
  await database
    .deleteFrom("pass")
    .where(({ or, eb }) => or([eb("nth", "<=", newest.nth - KEPT_PASSES.count), eb("ended_at", "<", oldest)]))
    .execute();
}
