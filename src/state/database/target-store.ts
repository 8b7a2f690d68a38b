import { type Kysely, type SelectQueryBuilder, sql } from "kysely";
import type { PlanReply, ReviewedPlan } from "../../contract/generated/output.ts";
import type { GateReceipt } from "../../core/gates/content-gate.ts";
import type { TargetDecisions } from "../../core/holds.ts";
import type { PassRecord } from "../../core/report/target-status.ts";
import { NO_PROGRESS, type TargetProgress } from "../../core/stages/target-progress.ts";
import { chunks } from "../../store/prepared-query.ts";
import { driftSpan } from "../resource-events.ts";
import {
  KEPT_GATE_RECEIPTS,
  KEPT_PLANS,
  NO_MEMORY,
  type PassMemory,
  type StoredPage,
  type StoredPageRequest,
  type TargetStore,
} from "../target-store.ts";
import { storeRecords } from "./pass-records.ts";
import { changedEvents, storeResources } from "./resource-history.ts";
import type { StateDatabase } from "./state-database.ts";
import { holdRow, type StateTables, statusRow } from "./state-schema.ts";
import { takenActions } from "./taken-actions.ts";

/** What a state remembers of its target. */
export function storedTarget({ readable, writable }: StateDatabase): TargetStore {
  const read = async (): Promise<Kysely<StateTables> | null> => (await readable())?.read ?? null;
  return {
    decisions: async () => {
      const database = await read();
      return database === null ? { holds: [], released: [] } : decisionsIn(database);
    },
    decide: async (change) =>
      (await writable()).write(async (database) => {
        const before = await decisionsIn(database);
        const after = change(before);
        if (JSON.stringify(after) !== JSON.stringify(before)) await replaceDecisions(database, after);
        return { before, after };
      }),
    status: async () => {
      const row = await (await read())?.selectFrom("status").select("status").executeTakeFirst();
      return row === undefined ? null : JSON.parse(row.status);
    },
    keep: async ({ status, records = [], resources = null, memory }) => {
      await (await writable()).write(async (database) => {
        await storeRecords(database, records);
        if (resources !== null) await storeResources(database, resources);
        if (memory !== undefined) await storeMemory(database, memory);
        const row = statusRow(status);
        await database
          .insertInto("status")
          .values(row)
          .onConflict((conflict) => conflict.column("one").doUpdateSet({ status: row.status }))
          .execute();
      });
    },
    keepRecords: async (records) => {
      await (await writable()).write((database) => storeRecords(database, records));
    },
    ...takenActions(writable),
    memory: async () => {
      const database = await read();
      return database === null ? NO_MEMORY : storedMemory(database);
    },
    keepBegun: async (begunCommit) => {
      await (await writable()).write(async (database) =>
        storeMemory(database, { ...(await storedMemory(database)), begunCommit }),
      );
    },
    gateReceipts: async (identity) => {
      const receipts = (await read())?.selectFrom("gate_receipt").select("receipt");
      const rows = await (identity === null ? receipts : receipts?.where("identity", "=", identity))
        ?.orderBy("at")
        .orderBy("identity")
        .orderBy("content")
        .orderBy("gate")
        .execute();
      return (rows ?? []).map(({ receipt }) => JSON.parse(receipt));
    },
    keepGateReceipts: async (receipts) => {
      if (receipts.length > 0) await (await writable()).write((database) => storeGateReceipts(database, receipts));
    },
    progress: async () => {
      const database = await read();
      return database === null ? NO_PROGRESS : progressIn(database);
    },
    advance: async (change) => {
      const store = await writable();
      return store.write(async (database) => {
        const before = await progressIn(database);
        const after = change(before, store.isShared ? await store.time(database) : null);
        if (JSON.stringify(after) !== JSON.stringify(before)) await storeProgress(database, after);
        return after;
      });
    },
    expansion: async () => {
      const row = await (await read())?.selectFrom("expansion").select("expansion").executeTakeFirst();
      return row === undefined ? null : JSON.parse(row.expansion);
    },
    keepExpansion: async (kept) => {
      const expansion = JSON.stringify(kept);
      await (await writable()).write((database) =>
        database
          .insertInto("expansion")
          .values({ one: 1, expansion })
          .onConflict((conflict) => conflict.column("one").doUpdateSet({ expansion }))
          .execute(),
      );
    },
    reviewedPlans: async (since, page) => {
      let query = (await read())
        ?.selectFrom("reviewed_plan")
        .select(["id", "at", "entry"])
        .where("at", ">=", since)
        .orderBy("at", "desc")
        .orderBy("id", "desc");
      const [at, id = ""] = page.after?.split("_") ?? [];
      if (at !== undefined)
        query = query?.where(({ or, and, eb }) => or([eb("at", "<", at), and([eb("at", "=", at), eb("id", "<", id)])]));
      return pageOf(query, page, {
        entry: ({ entry }): ReviewedPlan => JSON.parse(entry),
        cursor: (row) => `${row.at}_${row.id}`,
      });
    },
    reviewedPlan: async (id, since) => {
      const row = await (await read())
        ?.selectFrom("reviewed_plan")
        .select("plan")
        .where("id", "=", id)
        .where("at", ">=", since)
        .executeTakeFirst();
      return row === undefined ? null : JSON.parse(row.plan);
    },
    keepReviewedPlan: async (reply) => (await writable()).write((database) => storeReviewedPlan(database, reply)),
    passAt: async (at) => {
      const time = new Date(at).toISOString();
      // Commits that a pass superseded have its times, and come before it.
      const row = await (await read())
        ?.selectFrom("pass")
        .select("record")
        .where("ended_at", ">=", time)
        // What people asked for is among the passes; within a text, these quotes would be escaped.
        .where("record", "not like", '%"result":"action"%')
        .orderBy("ended_at")
        .orderBy("nth", "desc")
        .executeTakeFirst();
      const record: PassRecord | null = row === undefined ? null : JSON.parse(row.record);
      return record !== null && record.startedAt <= time ? record : null;
    },
    passes: async (page) => newestFirst((await read())?.selectFrom("pass").select(["nth", "record as entry"]), page),
    events: async ({ identity, hasDrifted, at, isKnown, withChanges }, page) => {
      const database = await read();
      let query = database?.selectFrom("resource_event").select(["nth", "event as entry"]);
      if (isKnown !== undefined)
        query = query?.where(({ exists, selectFrom }) =>
          exists(selectFrom("resource_change").select("event").whereRef("event", "=", "resource_event.nth")),
        );
      if (identity !== undefined) query = query?.where("identity", "=", identity);
      if (hasDrifted !== undefined) query = query?.where("has_drifted", "=", 1);
      // Days have an index, which begins with whether live had drifted. A time has nothing that LIKE reads otherwise.
      if (at !== undefined) {
        query = query
          ?.where("has_drifted", "in", [0, 1])
          .where("day", "=", at.slice(0, 10))
          .where("event", "like", `%"at":"${at}"%`);
      }
      if (withChanges === undefined || database === null) return newestFirst(query, page);
      const { entries, next } = await pageOf(inOrder(query, page), page, numbered);
      return { entries: await changedEvents(database, entries), next };
    },
    drifts: async (page) => {
      const query = (await read())
        ?.selectFrom("resource_event")
        .select(({ selectFrom }) => [
          "nth",
          "event",
          selectFrom("resource_event as later")
            .select("later.event")
            .whereRef("later.identity", "=", "resource_event.identity")
            .whereRef("later.nth", ">", "resource_event.nth")
            .orderBy("later.nth")
            .limit(1)
            .as("after"),
        ])
        .where("has_drifted", "=", 1)
        .orderBy("nth", "desc");
      const asked = page.after === undefined ? query : query?.where("nth", "<", Number(page.after));
      return pageOf(asked, page, {
        entry: ({ event, after }) => driftSpan(JSON.parse(event), after === null ? null : JSON.parse(after)),
        cursor: ({ nth }) => String(nth),
      });
    },
    unsettled: async ({ state }, page) => {
      let query = (await read())?.selectFrom("unsettled").select(["identity", "event"]).orderBy("identity");
      if (state !== undefined) query = query?.where("state", "=", state);
      if (page.after !== undefined) query = query?.where("identity", ">", page.after);
      return pageOf(query, page, { entry: ({ event }) => JSON.parse(event), cursor: ({ identity }) => identity });
    },
    driftByDay: async (page) => {
      let query = (await read())
        ?.selectFrom("resource_event")
        .select(({ fn }) => [
          "day",
          fn.countAll<number>().as("events"),
          fn.count<number>("identity").distinct().as("resources"),
        ])
        .where("has_drifted", "=", 1)
        .groupBy("day")
        .orderBy("day", "desc");
      if (page.after !== undefined) query = query?.where("day", "<", page.after);
      return pageOf(query, page, { entry: (row) => ({ ...row }), cursor: ({ day }) => day });
    },
  };
}

type Numbered = { readonly nth: number; readonly entry: string };

// The cursor of what is numbered is its number.
function newestFirst<Table extends "pass" | "resource_event", Entry>(
  query: SelectQueryBuilder<StateTables, Table, Numbered> | undefined,
  page: StoredPageRequest,
): Promise<StoredPage<Entry>> {
  return pageOf(inOrder(query, page), page, { ...numbered, entry: ({ entry }) => JSON.parse(entry) });
}

const numbered = { entry: (row: Numbered) => row, cursor: ({ nth }: Numbered) => String(nth) };

function inOrder<Table extends "pass" | "resource_event">(
  query: SelectQueryBuilder<StateTables, Table, Numbered> | undefined,
  { after }: StoredPageRequest,
) {
  const ordered = query?.orderBy("nth", "desc");
  return after === undefined ? ordered : ordered?.where(sql<boolean>`nth < ${Number(after)}`);
}

// One row more than asked for shows that another page follows.
async function pageOf<Table extends keyof StateTables, Row, Entry>(
  query: SelectQueryBuilder<StateTables, Table, Row> | undefined,
  { limit }: StoredPageRequest,
  { entry, cursor }: { readonly entry: (row: Row) => Entry; readonly cursor: (row: Row) => string },
): Promise<StoredPage<Entry>> {
  const rows = (await query?.limit(limit + 1).execute()) ?? [];
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { entries: shown.map(entry), next: rows.length > limit && last !== undefined ? cursor(last) : null };
}

async function storedMemory(database: Kysely<StateTables>): Promise<PassMemory> {
  const row = await database.selectFrom("memory").select("memory").executeTakeFirst();
  return row === undefined ? NO_MEMORY : { ...NO_MEMORY, ...JSON.parse(row.memory) };
}

async function storeMemory(database: Kysely<StateTables>, kept: PassMemory): Promise<void> {
  const memory = JSON.stringify(kept);
  await database
    .insertInto("memory")
    .values({ one: 1, memory })
    .onConflict((conflict) => conflict.column("one").doUpdateSet({ memory }))
    .execute();
}

async function storeGateReceipts(database: Kysely<StateTables>, receipts: readonly GateReceipt[]): Promise<void> {
  // No statement may store a row twice.
  const single = new Map(receipts.map((one) => [`${one.identity} ${one.content} ${one.gate}`, one]));
  for (const part of chunks([...single.values()])) {
    const values = part.map((receipt) => {
      const { identity, content, gate, at } = receipt;
      return { identity, content, gate, at, receipt: JSON.stringify(receipt) };
    });
    await database
      .insertInto("gate_receipt")
      .values(values)
      .onConflict((conflict) =>
        conflict
          .columns(["identity", "content", "gate"])
          .doUpdateSet(({ ref }) => ({ at: ref("excluded.at"), receipt: ref("excluded.receipt") })),
      )
      .execute();
  }
  const oldest = await database
    .selectFrom("gate_receipt")
    .select("at")
    .orderBy("at", "desc")
    .offset(KEPT_GATE_RECEIPTS - 1)
    .limit(1)
    .executeTakeFirst();
  if (oldest !== undefined) await database.deleteFrom("gate_receipt").where("at", "<", oldest.at).execute();
}

async function storeReviewedPlan(database: Kysely<StateTables>, reply: PlanReply): Promise<boolean> {
  const { id, at } = reply.plan;
  const row = { at, entry: JSON.stringify(reply.plan), plan: JSON.stringify(reply) };
  const earlier = await database.selectFrom("reviewed_plan").select("id").where("id", "=", id).executeTakeFirst();
  await database
    .insertInto("reviewed_plan")
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column("id").doUpdateSet(row))
    .execute();
  const oldest = await database
    .selectFrom("reviewed_plan")
    .select(["at", "id"])
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .offset(KEPT_PLANS.count - 1)
    .limit(1)
    .executeTakeFirst();
  const since = new Date(Date.parse(at) - KEPT_PLANS.ms).toISOString();
  await database
    .deleteFrom("reviewed_plan")
    .where(({ or, and, eb }) =>
      or([
        eb("at", "<", since),
        ...(oldest === undefined
          ? []
          : [eb("at", "<", oldest.at), and([eb("at", "=", oldest.at), eb("id", "<", oldest.id)])]),
      ]),
    )
    .execute();
  return earlier !== undefined;
}

async function progressIn(database: Kysely<StateTables>): Promise<TargetProgress> {
  const row = await database.selectFrom("progress").select("progress").executeTakeFirst();
  return row === undefined ? NO_PROGRESS : JSON.parse(row.progress);
}

async function storeProgress(database: Kysely<StateTables>, kept: TargetProgress): Promise<void> {
  const progress = JSON.stringify(kept);
  await database
    .insertInto("progress")
    .values({ one: 1, progress })
    .onConflict((conflict) => conflict.column("one").doUpdateSet({ progress }))
    .execute();
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
