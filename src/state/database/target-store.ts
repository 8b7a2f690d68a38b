import { type Kysely, type SelectQueryBuilder, sql, type Transaction } from "kysely";
import type { PlanReply, ReviewedPlan, WrittenChanges } from "../../contract/generated/output.ts";
import type { GateReceipt } from "../../core/gates/content-gate.ts";
import type { TargetDecisions } from "../../core/holds.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassRecord, ResourceEvent } from "../../core/report/target-status.ts";
import { NO_PROGRESS, type TargetProgress } from "../../core/stages/target-progress.ts";
import { chunks } from "../../store/prepared-query.ts";
import type { Store } from "../../store/store.ts";
import { driftSpan, type ResourcesSeen, resourceChanges } from "../resource-events.ts";
import {
  type ActionTime,
  type ActionTurn,
  type EndedAction,
  KEPT_CHANGES,
  KEPT_EVENTS,
  KEPT_GATE_RECEIPTS,
  KEPT_PASSES,
  KEPT_PLANS,
  NO_MEMORY,
  type PassMemory,
  type StoredPage,
  type StoredPageRequest,
  type TakenAction,
  type TargetStore,
} from "../target-store.ts";
import type { StateDatabase } from "./state-database.ts";
import { holdRow, passRow, type StateTables, statusRow } from "./state-schema.ts";

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
    takeAction: async (asked, time) => {
      const store = await writable();
      return store.write(async (database) => takeAction(database, asked, await timed(store, database, time)));
    },
    renewAction: async (key, time) => {
      const store = await writable();
      await store.write(async (database) => {
        const { until } = await timed(store, database, time);
        await database
          .updateTable("action")
          .set({ until })
          .where("key", "=", key)
          .where("until", "is not", null)
          .execute();
      });
    },
    endAction: async (key, ended) => {
      await (await writable()).write(async (database) => {
        await storeRecords(database, [ended.record]);
        await database
          .updateTable("action")
          .set({ until: null, ended: JSON.stringify(ended) })
          .where("key", "=", key)
          .execute();
      });
    },
    memory: async () => {
      const row = await (await read())?.selectFrom("memory").select("memory").executeTakeFirst();
      return row === undefined ? NO_MEMORY : { ...NO_MEMORY, ...JSON.parse(row.memory) };
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

async function storeRecords(database: Kysely<StateTables>, records: readonly PassRecord[]): Promise<void> {
  for (const record of records) await database.insertInto("pass").values(passRow(record)).execute();
  if (records.length > 0) await removeOldPasses(database);
}

type TimedAction = { readonly now: number; readonly until: number };

// The clocks of two processes may differ.
async function timed(
  store: Store<StateTables>,
  database: Transaction<StateTables>,
  { now: here, forMs }: ActionTime,
): Promise<TimedAction> {
  const now = store.isShared ? await store.time(database) : here;
  return { now, until: now + forMs };
}

async function takeAction(
  database: Kysely<StateTables>,
  { key, content, interrupted }: TakenAction,
  { now, until }: TimedAction,
): Promise<ActionTurn> {
  await recordInterrupted(database, now);
  const at = interrupted.record.startedAt;
  const taken = await database
    .insertInto("action")
    .values({ key, at, content, until, ended: JSON.stringify(interrupted) })
    .onConflict((conflict) => conflict.doNothing())
    .returning("key")
    .executeTakeFirst();
  if (taken !== undefined) {
    await database.deleteFrom("action").where("at", "<", keptSince(at)).execute();
    return { is: "taken" };
  }
  const found = await database.selectFrom("action").selectAll().where("key", "=", key).executeTakeFirstOrThrow();
  if (found.until !== null) return { is: "running", content: found.content };
  return { is: "ended", content: found.content, ...(JSON.parse(found.ended) as EndedAction) };
}

// Whoever asks next for something writes down what the process that died could not.
async function recordInterrupted(database: Kysely<StateTables>, now: number): Promise<void> {
  const left = await database.selectFrom("action").select(["key", "ended"]).where("until", "<=", now).execute();
  const endedAt = new Date(now).toISOString();
  for (const { key, ended } of left) {
    const { record, failure }: EndedAction = JSON.parse(ended);
    const interrupted = { record: { ...record, endedAt }, failure };
    await storeRecords(database, [interrupted.record]);
    await database
      .updateTable("action")
      .set({ until: null, ended: JSON.stringify(interrupted) })
      .where("key", "=", key)
      .execute();
  }
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

async function changedEvents(
  database: Kysely<StateTables>,
  rows: readonly Numbered[],
): Promise<readonly ResourceEvent[]> {
  const changed = new Map<number, string>();
  for (const part of chunks(rows.map(({ nth }) => nth))) {
    const found = database.selectFrom("resource_change").select(["event", "changed"]).where("event", "in", part);
    for (const row of await found.execute()) changed.set(row.event, row.changed);
  }
  return rows.map(({ nth, entry }) => {
    const text = changed.get(nth);
    return { ...JSON.parse(entry), ...(text !== undefined && { changed: JSON.parse(text) }) };
  });
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

async function removeOldPasses(database: Kysely<StateTables>): Promise<void> {
  const newest = await database
    .selectFrom("pass")
    .select(["nth", "ended_at"])
    .orderBy("nth", "desc")
    .executeTakeFirst();
  if (newest === undefined) return;
  await database
    .deleteFrom("pass")
    .where(({ or, eb }) =>
      or([eb("nth", "<=", newest.nth - KEPT_PASSES.count), eb("ended_at", "<", keptSince(newest.ended_at))]),
    )
    .execute();
}

function keptSince(newest: string): string {
  return new Date(Date.parse(newest) - KEPT_PASSES.ms).toISOString();
}

async function storeResources(database: Kysely<StateTables>, seen: ResourcesSeen): Promise<void> {
  const { events, unsettled, settled } = resourceChanges(await unsettledBefore(database, seen), seen);
  for (const part of chunks(events)) {
    const values = part.map((event) => ({
      identity: event.identity,
      day: event.at.slice(0, 10),
      has_drifted: event.hasDrifted ? 1 : 0,
      event: JSON.stringify(event),
    }));
    const { changed } = seen;
    const insert = database.insertInto("resource_event").values(values);
    if (changed === undefined || changed.size === 0) await insert.execute();
    else await storeChanges(database, await insert.returning(["nth", "identity"]).execute(), changed);
  }
  for (const part of chunks(settled)) await database.deleteFrom("unsettled").where("identity", "in", part).execute();
  for (const part of chunks(unsettled)) {
    const values = part.map((event) => ({
      identity: event.identity,
      state: event.state,
      event: JSON.stringify(event),
    }));
    await database
      .insertInto("unsettled")
      .values(values)
      .onConflict((conflict) =>
        conflict
          .column("identity")
          .doUpdateSet(({ ref }) => ({ state: ref("excluded.state"), event: ref("excluded.event") })),
      )
      .execute();
  }
  if (events.length > 0) await removeOldEvents(database, seen);
}

async function storeChanges(
  database: Kysely<StateTables>,
  events: readonly { readonly nth: number; readonly identity: string }[],
  changed: ReadonlyMap<Identity, WrittenChanges>,
): Promise<void> {
  let through = (await lastChange(database))?.through ?? 0;
  const values = events.flatMap(({ nth, identity }) => {
    const found = changed.get(identity);
    if (found === undefined) return [];
    const text = JSON.stringify(found);
    through += text.length;
    return [{ event: nth, through, changed: text }];
  });
  if (values.length > 0) await database.insertInto("resource_change").values(values).execute();
}

function lastChange(database: Kysely<StateTables>): Promise<{ readonly through: number } | undefined> {
  return database.selectFrom("resource_change").select("through").orderBy("event", "desc").limit(1).executeTakeFirst();
}

async function removeOldChanges(database: Kysely<StateTables>): Promise<void> {
  const last = await lastChange(database);
  if (last === undefined) return;
  const oldest = await database.selectFrom("resource_event").select("nth").orderBy("nth").limit(1).executeTakeFirst();
  // The numbers of characters grow, so what is over the limit is at the beginning.
  const kept = await database
    .selectFrom("resource_change")
    .select("event")
    .where("through", ">", last.through - KEPT_CHANGES)
    .orderBy("event")
    .limit(1)
    .executeTakeFirst();
  const since = Math.max(oldest?.nth ?? 0, kept?.event ?? 0);
  await database.deleteFrom("resource_change").where("event", "<", since).execute();
}

// A pass over a part of the source concerns only what it saw.
async function unsettledBefore(
  database: Kysely<StateTables>,
  { isWhole, statuses }: ResourcesSeen,
): Promise<ReadonlyMap<Identity, ResourceEvent>> {
  const query = database.selectFrom("unsettled").select("event");
  const identities = chunks(statuses.map(({ identity }) => identity));
  const asked = isWhole ? [query] : identities.map((part) => query.where("identity", "in", part));
  const found = new Map<Identity, ResourceEvent>();
  for (const one of asked) {
    for (const { event } of await one.execute()) {
      const earlier: ResourceEvent = JSON.parse(event);
      found.set(earlier.identity, earlier);
    }
  }
  return found;
}

async function removeOldEvents(database: Kysely<StateTables>, { at }: ResourcesSeen): Promise<void> {
  const newest = await database.selectFrom("resource_event").select("nth").orderBy("nth", "desc").executeTakeFirst();
  if (newest === undefined) return;
  await database
    .deleteFrom("resource_event")
    .where("nth", "<=", newest.nth - KEPT_EVENTS)
    .execute();
  // Events are in the order of their times, so the old ones are at the beginning.
  const young = await database
    .selectFrom("resource_event")
    .select("nth")
    .where("day", ">=", keptSince(at).slice(0, 10))
    .orderBy("nth")
    .executeTakeFirst();
  if (young !== undefined) await database.deleteFrom("resource_event").where("nth", "<", young.nth).execute();
  await removeOldChanges(database);
}
