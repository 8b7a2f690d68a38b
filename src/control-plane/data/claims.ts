import type { Transaction } from "kysely";
import type { Tables } from "./tables.ts";

// Longer than a driver takes to answer. When it is over, whoever claimed it has gone, and another server looks.
const CLAIM_MS = 10_000;

/** What is looked at again and again, by one server at a time. */
type Watched = "deployments" | "job_runs";

/** Puts off for other servers what this one is about to look at; of two that want the same, one has to begin anew. */
export async function claim(
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
