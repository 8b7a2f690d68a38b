import { publicAddress } from "../../store/postgres/address.ts";
import { openDatabaseSession } from "../../store/postgres/session.ts";
import type { CheckedLedger } from "../checked-ledger.ts";
import { requireTablesSealed } from "../database/copy-tables.ts";
import { serversIn } from "../database/ledger-content.ts";
import { unsealable } from "../database/state-key.ts";
import type { DatabasePlace, StateTransfer } from "../state.ts";
import { requireKey } from "./postgres-state.ts";
import { inSnapshot, shownSchema, stateSchemas, targetIn } from "./state-schemas.ts";

/** Reads the ledgers in a database completely, of all targets that were ever used with it, and changes nothing. */
export async function checkDatabase(
  address: DatabasePlace["address"],
  { keyText, clock, random, stopping }: Omit<StateTransfer, "exportKey">,
): Promise<readonly CheckedLedger[]> {
  const key = requireKey(publicAddress(address), keyText);
  await using session = await openDatabaseSession(address, { clock, signal: stopping });
  const checked: CheckedLedger[] = [];
  for (const schema of await stateSchemas(session)) {
    const name = shownSchema(publicAddress(address), schema);
    let target: string | null = null;
    try {
      target = await targetIn(session, schema, name);
      const servers = await inSnapshot({ address, schema, target }, { clock, random }, async (snapshot) => {
        await requireTablesSealed(snapshot, key);
        return serversIn(snapshot);
      });
      checked.push({ target, content: { schema: "current", servers } });
    } catch (error) {
      checked.push({ target, error: unsealable(name, error) });
    }
  }
  return checked;
}
