import type { Kysely } from "kysely";
import type { PassRecord } from "../../core/report/target-status.ts";
import { KEPT_PASSES } from "../target-store.ts";
import { passRow, type StateTables } from "./state-schema.ts";

/** Stores how passes ended, and removes what is older than the limits allow. */
export async function storeRecords(database: Kysely<StateTables>, records: readonly PassRecord[]): Promise<void> {
  for (const record of records) await database.insertInto("pass").values(passRow(record)).execute();
  if (records.length > 0) await removeOldPasses(database);
}

async function removeOldPasses(database: Kysely<StateTables>): Promise<void> {
  const newest = await database
    .selectFrom("pass")
    .select(["nth", "ended_at"])
    .orderBy("nth", "desc")
    .executeTakeFirst();
  if (newest === undefined) return;
  await database
    .deleteFrom("pass")
    .where(({ or, eb }) =>
      or([eb("nth", "<=", newest.nth - KEPT_PASSES.count), eb("ended_at", "<", keptSince(newest.ended_at))]),
    )
    .execute();
}

/** The time until which records are kept, as seen from the newest one. */
export function keptSince(newest: string): string {
  return new Date(Date.parse(newest) - KEPT_PASSES.ms).toISOString();
}
