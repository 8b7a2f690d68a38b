import { publicAddress } from "../../store/postgres/address.ts";
import { openPostgresStore } from "../../store/postgres/open.ts";
import { openDatabaseSession } from "../../store/postgres/session.ts";
import { StoreError } from "../../store/store-error.ts";
import type { CheckedLedger } from "../checked-ledger.ts";
import { requireTablesSealed } from "../database/copy-tables.ts";
import { serversIn } from "../database/ledger-content.ts";
import { unsealable } from "../database/state-key.ts";
import type { StateTables } from "../database/state-schema.ts";
import type { DatabasePlace, StateTransfer } from "../state.ts";
import { requireKey } from "./postgres-state.ts";
import { olderSchema, shownSchema, stateSchemas, targetIn } from "./state-schemas.ts";
import { postgresStateMigrations } from "./state-tables.ts";

const POOLS = { read: 1, write: 1 };

/** Reads the ledgers in a database completely, of all targets that were ever used with it, and changes nothing. */
export async function checkDatabase(
  address: DatabasePlace["address"],
  { keyText, clock, random }: Omit<StateTransfer, "exportKey">,
): Promise<readonly CheckedLedger[]> {
  const key = requireKey(publicAddress(address), keyText);
  await using session = await openDatabaseSession(address, { clock });
  const checked: CheckedLedger[] = [];
  for (const schema of await stateSchemas(session)) {
    const name = shownSchema(publicAddress(address), schema);
    let target: string | null = null;
    try {
      target = await targetIn(session, schema, name);
      checked.push({ target, content: await contentOf(target, schema) });
    } catch (error) {
      const isOlder = error instanceof StoreError && error.code === "older-schema";
      checked.push({ target, error: isOlder ? olderSchema(name) : unsealable(name, error) });
    }
  }
  return checked;

  async function contentOf(target: string | null, namespace: string) {
    const options = { clock, random, schema: "leave", namespace, pools: POOLS } as const;
    await using store = await openPostgresStore<StateTables>(address, postgresStateMigrations(target), options);
    return await store.read
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (snapshot) => {
        await requireTablesSealed(snapshot, key);
        return { schema: "current", servers: await serversIn(snapshot) } as const;
      });
  }
}
