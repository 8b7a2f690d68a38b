import { sql, type Transaction } from "kysely";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { markSignature } from "./chain.ts";

const AT_ONCE = 500;

/**
 * Deletes a batch of the rows whose ids are less than one; returns how many, and whether there may be more. Each chain gets
 * a signed mark up to which it was pruned in the same transaction, so that a verification begins there: a row may have been
 * committed after any earlier look at the log, by a server whose clock is behind.
 */
export async function pruneAudit(
  transaction: Transaction<Tables>,
  context: Context,
  before: string,
): Promise<{ readonly pruned: number; readonly hasMore: boolean }> {
  const old = await transaction
    .selectFrom("audit")
    .select(["id", "chain", "number", "link"])
    .where("id", "<", before)
    .orderBy("id")
    .limit(AT_ONCE)
    .execute();
  const last = new Map<string, { readonly number: number; readonly link: string }>();
  for (const { chain, number, link } of old) {
    if (chain !== null && number !== null && link !== null) last.set(chain, { number: Number(number), link });
  }
  for (const [chain, end] of last) await markPruned(transaction, context, { chain, ...end });
  const ids = old.map(({ id }) => id);
  if (ids.length > 0) await transaction.deleteFrom("audit").where("id", "in", ids).execute();
  return { pruned: ids.length, hasMore: ids.length === AT_ONCE };
}

/** Signs up to where a chain is pruned, and deletes the marks below, unless more of it was pruned before. */
async function markPruned(
  transaction: Transaction<Tables>,
  { audit, clock, newId }: Context,
  end: { readonly chain: string; readonly number: number; readonly link: string },
): Promise<void> {
  const { key } = audit.chain;
  const marks = transaction.selectFrom("audit_marks").select("id").where("chain", "=", end.chain);
  const further = await marks
    .where("kind", "=", "pruned")
    .where(sql<number>`number`, ">=", end.number)
    .limit(1)
    .executeTakeFirst();
  if (further !== undefined) return;
  const at = new Date(clock.now()).toISOString();
  const mark = { id: newId(), kind: "pruned", at, ...end, key_id: key.version } as const;
  await transaction
    .deleteFrom("audit_marks")
    .where("chain", "=", end.chain)
    .where(sql<number>`number`, "<=", end.number)
    .execute();
  await transaction
    .insertInto("audit_marks")
    .values({ ...mark, signature: markSignature(key, mark) })
    .execute();
}
