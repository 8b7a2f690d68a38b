import type { Transaction } from "kysely";
import type { Fence } from "../write-headers.ts";
import type { Tables } from "./tables.ts";

/** Whether a later writer was here: the same principal with a higher number, or the holder of a newer lease. */
export async function isStale(
  transaction: Transaction<Tables>,
  principal: string,
  { number, scope }: Fence,
): Promise<boolean> {
  const lease = await transaction.selectFrom("leases").select("number").where("scope", "=", scope).executeTakeFirst();
  if (lease !== undefined && number < Number(lease.number)) return true;
  return number < (await highestSeen(transaction, principal, scope));
}

/** The highest number that a principal was seen with in a scope; 0 when there was none. */
export async function highestSeen(transaction: Transaction<Tables>, principal: string, scope: string): Promise<number> {
  const row = await transaction
    .selectFrom("fences")
    .select("number")
    .where("principal", "=", principal)
    .where("scope", "=", scope)
    .executeTakeFirst();
  return Number(row?.number ?? 0);
}

/** Remembers a number when it is the highest so far. */
export async function raiseFence(
  transaction: Transaction<Tables>,
  principal: string,
  { number, scope }: Fence,
): Promise<void> {
  await transaction
    .insertInto("fences")
    .values({ principal, scope, number })
    .onConflict((conflict) =>
      conflict.columns(["principal", "scope"]).doUpdateSet({ number }).where("fences.number", "<", number),
    )
    .execute();
}
