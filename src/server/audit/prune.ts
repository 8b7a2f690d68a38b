import { sql } from "kysely";
import { chunks } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import { markSignature } from "./chain.ts";

const AT_ONCE = 500;

/**
 * Deletes the rows whose ids are less than one, in small transactions; returns how many. Each chain keeps a signed mark up to
 * which it was pruned, so that a verification begins there. The id must be of rows that no transaction writes any more.
 */
export async function pruneAudit(context: Context, before: string): Promise<number> {
  await markPruned(context, before);
  const { store } = context;
  let count = 0;
  for (;;) {
    const old = await store.read.selectFrom("audit").select("id").where("id", "<", before).limit(AT_ONCE).execute();
    if (old.length === 0) return count;
    const ids = old.map(({ id }) => id);
    await store.write(async (transaction) => {
      await transaction.deleteFrom("audit").where("id", "in", ids).execute();
    });
    count += ids.length;
  }
}

/** Signs up to where each chain ends with the pruning, before anything is deleted, and deletes the marks below. */
async function markPruned({ store, audit, clock, newId }: Context, before: string): Promise<void> {
  const { key } = audit.chain;
  const at = new Date(clock.now()).toISOString();
  const chains = await store.read
    .selectFrom("audit")
    .select(["chain", ({ fn }) => fn.max("id").as("last")])
    .where("id", "<", before)
    .where("chain", "is not", null)
    .groupBy("chain")
    .execute();
  for (const some of chunks(chains, 100)) {
    await store.write(async (transaction) => {
      for (const { last } of some) {
        const row = await transaction.selectFrom("audit").selectAll().where("id", "=", last).executeTakeFirst();
        if (row === undefined || row.chain === null || row.number === null || row.link === null) continue;
        const number = Number(row.number);
        const mark = { id: newId(), kind: "pruned", at, chain: row.chain, number, link: row.link } as const;
        const signed = { ...mark, key_id: key.version };
        await transaction
          .deleteFrom("audit_marks")
          .where("chain", "=", row.chain)
          .where(sql<number>`number`, "<=", number)
          .execute();
        await transaction
          .insertInto("audit_marks")
          .values({ ...signed, signature: markSignature(key, signed) })
          .execute();
      }
    });
  }
}
