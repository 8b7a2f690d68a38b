import type { Kysely, Transaction } from "kysely";
import type { Context } from "../context.ts";
import type { Tables } from "./tables.ts";

// Longer than a driver takes to answer. When it is over, whoever claimed it has gone, and another server looks.
const CLAIM_MS = 10_000;

/** What is looked at again and again, by one server at a time. */
type Watched = "deployments" | "job_runs";

/** Finds what is to be looked at by now, and keeps it from other servers that use the same database. */
export function claimDue<Due extends { readonly id: string }>(
  { store, now }: Pick<Context, "store" | "now">,
  table: Watched,
  find: (database: Kysely<Tables>, now: number) => Promise<readonly Due[]>,
): Promise<readonly Due[]> {
  if (!store.isShared) return find(store.read, now());
  return store.write(async (transaction) => {
    const moment = now();
    const due = await find(transaction, moment);
    await claim(transaction, table, due, moment);
    return due;
  });
}

// Puts off for other servers what this one is about to look at; of two that want the same, one has to begin anew.
async function claim(
  transaction: Transaction<Tables>,
  table: Watched,
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
