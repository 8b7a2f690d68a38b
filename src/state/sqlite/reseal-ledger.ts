import type { Clock } from "../../clock/clock.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { resealTables } from "../database/copy-tables.ts";
import type { KeyChange } from "../database/ledger-rows.ts";
import { requireUnsealed } from "../database/state-key.ts";
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
    if (from === null) await requireUnsealed(database, `the state in ${folder}`);
    else await resealTables(database, { from, to });
    // A copy takes leases under a name of its own.
    await database.deleteFrom("holder").execute();
  });
}
