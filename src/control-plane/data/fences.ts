import type { Kysely, Transaction } from "kysely";
import { prepared } from "../../store/prepared.ts";
import type { Fence } from "../write-headers.ts";
import type { Tables } from "./tables.ts";

/** A scope as it looks to one principal. */
type FencedScope = Pick<Fence, "scope"> & { readonly principal: string };

const issued = prepared(issuedIn);
const issuedShared = prepared((database: Kysely<Tables>, scope: Pick<FencedScope, "scope">) =>
  issuedIn(database, scope).forShare(),
);
const seen = prepared(seenFrom);
const seenShared = prepared((database: Kysely<Tables>, scope: FencedScope) => seenFrom(database, scope).forShare());

/**
 * Lets a write pass, and remembers its number; false when a later writer was here: the same principal with a higher
 * number, or the holder of a newer lease. Where others write the database too, no later one comes in between.
 */
export async function passFence(
  transaction: Transaction<Tables>,
  { number, scope }: Fence,
  { principal, isShared }: { readonly principal: string; readonly isShared: boolean },
): Promise<boolean> {
  const [lease] = await (isShared ? issuedShared : issued)(transaction, { scope });
  const [fence] = await (isShared ? seenShared : seen)(transaction, { principal, scope });
  const highest = Number(fence?.number ?? 0);
  if (number < Math.max(highest, Number(lease?.number ?? 0))) return false;
  if (fence === undefined || number > highest) await raiseFence(transaction, { number, scope }, principal);
  return true;
}

/** The highest number that a principal was seen with in a scope; 0 when there was none. */
export async function highestSeen(transaction: Transaction<Tables>, scope: FencedScope): Promise<number> {
  const [row] = await seen(transaction, scope);
  return Number(row?.number ?? 0);
}

/** Remembers a number when it is the highest so far. */
export async function raiseFence(
  transaction: Transaction<Tables>,
  { number, scope }: Fence,
  principal: string,
): Promise<void> {
  await transaction
    .insertInto("fences")
    .values({ principal, scope, number })
    .onConflict((conflict) =>
      conflict.columns(["principal", "scope"]).doUpdateSet({ number }).where("fences.number", "<", number),
    )
    .execute();
}

function issuedIn(database: Kysely<Tables>, { scope }: Pick<FencedScope, "scope">) {
  return database.selectFrom("leases").select("number").where("scope", "=", scope);
}

function seenFrom(database: Kysely<Tables>, { principal, scope }: FencedScope) {
  return database.selectFrom("fences").select("number").where("principal", "=", principal).where("scope", "=", scope);
}
