import type { Kysely } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { resealTables } from "../database/copy-tables.ts";
import type { KeyChange } from "../database/ledger-rows.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";

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
    else await resealTables(database, { from, to });
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
