import type { Kysely, Transaction } from "kysely";
import type { Context } from "../context.ts";
import type { Tables } from "./tables.ts";

/**
 * For how long a server that has claimed a row is the only one to advance it: longer than a driver takes to answer. After
 * that it has probably crashed, and another one takes over.
 */
export const CLAIM_MS = 10_000;

// Servers that share a database do not notify each other of new rows.
const POLL_MS = 5000;

/**
 * Advances every row of a table that is due. Returns when the next one is due, in epoch milliseconds; null when none is in
 * progress.
 */
export async function advanceDueRows<Due extends { readonly id: string }>(
  context: Context,
  table: "deployments" | "job_runs",
  find: (database: Kysely<Tables>, now: number) => Promise<readonly Due[]>,
  advance: (row: Due) => Promise<void>,
): Promise<number | null> {
  const { store, clock } = context;
  await Promise.all((await claimDueRows(context, table, find)).map(advance));
  const { next } = await store.read
    .selectFrom(table)
    .select(({ fn }) => fn.min("look_at").as("next"))
    .executeTakeFirstOrThrow();
  const moment = next === null ? null : Number(next);
  return store.isShared ? Math.min(moment ?? Number.POSITIVE_INFINITY, clock.now() + POLL_MS) : moment;
}

/** Finds the rows that are due, and claims them so that other servers on the same database skip them. */
function claimDueRows<Due extends { readonly id: string }>(
  { store, clock }: Context,
  table: "deployments" | "job_runs",
  find: (database: Kysely<Tables>, now: number) => Promise<readonly Due[]>,
): Promise<readonly Due[]> {
  if (!store.isShared) return find(store.read, clock.now());
  return store.write(async (transaction) => {
    const moment = clock.now();
    const due = await find(transaction, moment);
    await claim(transaction, table, due, moment);
    return due;
  });
}

// Postpones the rows for other servers. Of two servers that claim the same rows, one gets a conflict and retries.
async function claim(
  transaction: Transaction<Tables>,
  table: "deployments" | "job_runs",
  due: readonly { readonly id: string }[],
  now: number,
): Promise<void> {
  if (due.length === 0) return;
  await transaction
    .updateTable(table)
    .set({ look_at: now + CLAIM_MS })
    .where(
      "id",
      "in",
      due.map(({ id }) => id),
    )
    .execute();
}
