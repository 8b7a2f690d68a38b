import type { Kysely, Transaction } from "kysely";
import type { Context } from "../context.ts";
import type { Tables } from "./tables.ts";

// Longer than a driver takes to answer. After that the claiming server has probably crashed, and another one takes over.
const CLAIM_MS = 10_000;

/** Finds the rows that are due, and claims them so that other servers on the same database skip them. */
export function claimDueRows<Due extends { readonly id: string }>(
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
