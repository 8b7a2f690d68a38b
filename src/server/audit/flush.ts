import type { Context } from "../context.ts";
import { insertAuditRow } from "../database/audit.ts";
import type { Tables } from "../database/tables.ts";
import { markSignature } from "./chain.ts";

const EVERY_MS = 1000;
const CHECKPOINT_MS = 60_000;

/**
 * Writes what the audit log lacks: refusals, signatures of numbers that were not used, and each minute, or now, a
 * checkpoint. Returns when to run again, in epoch milliseconds.
 */
export async function flushAudit(context: Context, when: "due" | "now" = "due"): Promise<number> {
  const { audit, clock } = context;
  await writeRefusals(context);
  await signLost(context);
  const { chain } = audit;
  chain.checkpoint ??= { number: 0, at: clock.now() };
  const { number, link } = chain.settled();
  if (number > chain.checkpoint.number && (when === "now" || clock.now() - chain.checkpoint.at >= CHECKPOINT_MS)) {
    await writeCheckpoint(context, number, link);
    chain.checkpoint = { number, at: clock.now() };
  }
  return clock.now() + EVERY_MS;
}

/** Writes what the audit log lacks as a process ends, and its last checkpoint. */
export async function finishAudit(context: Context): Promise<void> {
  await flushAudit(context, "now");
}

async function writeRefusals(context: Context): Promise<void> {
  const { store, audit } = context;
  const refusals = audit.refusals.take();
  if (refusals.length === 0) return;
  try {
    await store.write(async (transaction) => {
      for (const refusal of refusals) await insertAuditRow(transaction, context, refusal);
    });
  } catch (error) {
    audit.refusals.putBack(refusals);
    throw error;
  }
}

async function signLost({ store, audit: { chain }, clock }: Context): Promise<void> {
  const lost = chain.lost();
  if (lost.length === 0) return;
  const at = new Date(clock.now()).toISOString();
  await store.write(async (transaction) => {
    for (const { row } of lost) {
      const { id, link, number } = row;
      const found = await transaction.selectFrom("audit").select("id").where("id", "=", id).executeTakeFirst();
      if (found !== undefined) continue;
      const mark = { id, kind: "unused", at, chain: chain.id, number, key_id: chain.key.version, link } as const;
      await transaction
        .insertInto("audit_marks")
        .values({ ...mark, signature: markSignature(chain.key, mark) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  });
  chain.settle(lost);
}

async function writeCheckpoint(context: Context, number: number, link: string): Promise<void> {
  const { store, audit, clock, newId, log } = context;
  const { id: chain, key } = audit.chain;
  const at = new Date(clock.now()).toISOString();
  const mark = { id: newId(), kind: "checkpoint", at, chain, number, key_id: key.version, link } as const;
  const signed: Tables["audit_marks"] = { ...mark, signature: markSignature(key, mark) };
  await store.write(async (transaction) => void (await transaction.insertInto("audit_marks").values(signed).execute()));
  log.info({ event: "audit-checkpoint", ...signed }, "the audit log is complete up to this number");
}
