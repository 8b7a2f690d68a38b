import type { Transaction } from "kysely";
import type { Lease } from "../../contract/resources.ts";
import type { Tables } from "./tables.ts";

/** A lease as it is kept, its moments in epoch milliseconds. */
export type KeptLease = Tables["leases"];

/** The lease of a scope, current or over. */
export async function findLease(transaction: Transaction<Tables>, scope: string): Promise<KeptLease | null> {
  const row = await transaction.selectFrom("leases").selectAll().where("scope", "=", scope).executeTakeFirst();
  return row === undefined ? null : { ...row, number: Number(row.number), expires_at: Number(row.expires_at) };
}

/** Keeps a lease in the place of the scope's former one. */
export async function saveLease(transaction: Transaction<Tables>, { scope, ...rest }: KeptLease): Promise<void> {
  await transaction
    .insertInto("leases")
    .values({ scope, ...rest })
    .onConflict((conflicting) => conflicting.column("scope").doUpdateSet(rest))
    .execute();
}

/** A lease as it is answered. */
export function leaseOf({ scope, holder, number, expires_at: expiresAt }: KeptLease): Lease {
  return { scope, holder, fencingToken: number, expiresAt: new Date(expiresAt).toISOString() };
}
