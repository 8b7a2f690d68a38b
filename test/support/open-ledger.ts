import type { SealKey } from "../../src/seal/seal-key.ts";
import { ledgerIn } from "../../src/state/database/ledger.ts";
import { type StateTables, stateMigrations } from "../../src/state/database/state-schema.ts";
import type { Ledger } from "../../src/state/ledger.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import { machine } from "./machine.ts";

/** Opens the ledger of one server in a SQLite file, which is closed with it. */
export async function openLedger(
  path: string,
  place: { readonly server: string; readonly key: SealKey },
): Promise<Ledger & AsyncDisposable> {
  const store = await openSqliteStore<StateTables>(path, stateMigrations(), machine);
  try {
    return { ...(await ledgerIn(store, place)), [Symbol.asyncDispose]: store.close };
  } catch (error) {
    await store.close();
    throw error;
  }
}
