import type { Transaction } from "kysely";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { RecurringTask } from "./recurring-task.ts";

declare module "../database/tables.ts" {
  interface Tables {
    /** The servers on a shared database, and when each was last seen, in epoch milliseconds. */
    readonly servers: { readonly id: string; readonly seen_at: number };
  }
}

// A server that is busy, or whose database is away for a moment, is still seen within the minute.
const EVERY_MS = 15_000;
const ALIVE_MS = 60_000;

/** Says on a shared database that this server runs now. */
export async function announcePresence(
  transaction: Transaction<Tables>,
  { store }: Context,
  id: string,
): Promise<void> {
  if (!store.isShared) return;
  const seen_at = await store.time(transaction);
  await transaction
    .insertInto("servers")
    .values({ id, seen_at })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ seen_at }))
    .execute();
  await transaction
    .deleteFrom("servers")
    .where("seen_at", "<=", seen_at - ALIVE_MS)
    .execute();
}

/** How many seconds ago another server was seen on a shared database; null when none was within the last minute. */
export async function otherServerSeen(transaction: Transaction<Tables>, { store }: Context): Promise<number | null> {
  if (!store.isShared) return null;
  const now = await store.time(transaction);
  const last = await transaction
    .selectFrom("servers")
    .select("seen_at")
    .where("seen_at", ">", now - ALIVE_MS)
    .orderBy("seen_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return last === undefined ? null : Math.max(0, Math.round((now - Number(last.seen_at)) / 1000));
}

/** Announces the presence of a server until disposal, which ends it. */
export function keepPresence(context: Context, id: string): AsyncDisposable {
  const { store, clock, log } = context;
  if (!store.isShared) return { [Symbol.asyncDispose]: async () => {} };
  const announce = async () => {
    await store.write((transaction) => announcePresence(transaction, context, id));
    return clock.now() + EVERY_MS;
  };
  const task = new RecurringTask(announce, clock, (error) =>
    log.debug({ event: "presence", err: error }, "presence was not announced"),
  );
  task.at(clock.now() + EVERY_MS);
  return {
    [Symbol.asyncDispose]: async () => {
      await task.close();
      const leaving = store.write((transaction) => transaction.deleteFrom("servers").where("id", "=", id).execute());
      await leaving.catch((error: unknown) => log.debug({ event: "presence", err: error }, "presence was not ended"));
    },
  };
}
