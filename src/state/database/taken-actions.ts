import type { Kysely, Transaction } from "kysely";
import type { Store } from "../../store/store.ts";
import type { ActionTime, ActionTurn, EndedAction, TakenAction, TargetStore } from "../target-store.ts";
import { keptSince, storeRecords } from "./pass-records.ts";
import type { StateDatabase } from "./state-database.ts";
import type { StateTables } from "./state-schema.ts";

/** What people asked a target for, so that each is carried out once, by whichever process took it. */
export function takenActions(writable: StateDatabase["writable"]) {
  return {
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
  } satisfies Partial<TargetStore>;
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
