import type { Kysely } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { intentFrom, intentRow, receiptRow, recordedFrom, sealedReply } from "../database/ledger-rows.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";
import { receiptDigest } from "../receipt-digest.ts";

/** The old and the new key of a ledger; without an old one, nothing in it may be sealed. */
export type KeyChange<From = SealKey | null> = { readonly from: From; readonly to: SealKey };

/**
 * Seals everything in a ledger file with another key, in one transaction, and migrates its schema. What an earlier
 * release kept beside the ledger is taken over from the folder, if it is given.
 */
export async function resealLedger(
  path: string,
  keys: KeyChange,
  { clock, folder = null }: { readonly clock: Clock; readonly folder?: string | null },
): Promise<void> {
  await using store = await openSqliteStore<StateTables>(path, stateMigrations(folder), { clock });
  await store.write(async (database) => {
    const { from, to } = keys;
    if (from === null) await requireUnsealed(database, folder);
    else await resealContents(database, { from, to });
    // A copy takes leases under a name of its own.
    await database.deleteFrom("holder").execute();
  });
}

async function requireUnsealed(database: Kysely<StateTables>, folder: string | null): Promise<void> {
  const receipt = await database.selectFrom("receipt").select("identity").executeTakeFirst();
  if (receipt === undefined && (await database.selectFrom("intent").select("id").executeTakeFirst()) === undefined)
    return;
  throw new HoldfastError("invalid", `the key of the state ${folder ?? ""} is missing`, {
    hint: "provide it with HOLDFAST_STATE_KEY_FILE",
  });
}

async function resealContents(database: Kysely<StateTables>, keys: KeyChange<SealKey>): Promise<void> {
  await resealReceipts(database, keys);
  await resealIntents(database, keys);
}

async function resealReceipts(database: Kysely<StateTables>, { from, to }: KeyChange<SealKey>): Promise<void> {
  const digest = receiptDigest(to);
  const keys = await database.selectFrom("receipt").select(["server", "identity"]).execute();
  // One at a time, since all contents together may not fit into memory.
  for (const { server, identity } of keys) {
    const receipt = recordedFrom(from, await rowOf(database, { server, identity }));
    const { sealed, mark, tally } = receiptRow({ server, key: to, digest }, receipt);
    await database
      .updateTable("receipt")
      .set({ sealed, mark, tally })
      .where("server", "=", server)
      .where("identity", "=", identity)
      .execute();
  }
}

function rowOf(
  database: Kysely<StateTables>,
  { server, identity }: Pick<StateTables["receipt"], "server" | "identity">,
): Promise<StateTables["receipt"]> {
  return database
    .selectFrom("receipt")
    .selectAll()
    .where("server", "=", server)
    .where("identity", "=", identity)
    .executeTakeFirstOrThrow();
}

async function resealIntents(database: Kysely<StateTables>, { from, to }: KeyChange<SealKey>): Promise<void> {
  for (const row of await database.selectFrom("intent").selectAll().execute()) {
    const { reply, ...intent } = intentFrom(from, row);
    const sealed = intentRow(row.server, to, intent);
    await database
      .updateTable("intent")
      .set({ ...sealed, reply: reply === null ? null : sealedReply(to, row.id, reply) })
      .where("id", "=", row.id)
      .execute();
  }
}
