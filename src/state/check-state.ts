import { join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import type { CheckedLedger } from "./checked-ledger.ts";
import { existingKey, type WholeState } from "./open-state.ts";
import { LEDGER_NAME, ledgerFolders } from "./sqlite/ledger-folders.ts";
import type { StateTransfer } from "./state.ts";

/** Reads every ledger of a state completely, and changes nothing. The list is empty until something has been recorded. */
export async function checkState(
  { folder: state, database }: WholeState,
  options: Omit<StateTransfer, "exportKey">,
): Promise<readonly CheckedLedger[]> {
  // Imported here, so that commands without a ledger do not load the database.
  if (database !== null) return (await import("./postgres/check-database.ts")).checkDatabase(database, options);
  const { checkLedger } = await import("./sqlite/check-ledger.ts");
  const checked: CheckedLedger[] = [];
  for (const { target, folder } of ledgerFolders(state)) {
    try {
      const key = await existingKey(folder, options.keyText);
      if (key === null) throw noKey(folder);
      checked.push({ target, content: await checkLedger(join(folder, LEDGER_NAME), key) });
    } catch (error) {
      checked.push({ target, error });
    }
  }
  return checked;
}

function noKey(folder: string): HoldfastError {
  return new HoldfastError("error", `the key of ${folder} is missing or cannot be used`, {
    hint: "provide the key that it was created with: HOLDFAST_STATE_KEY_FILE, or the file `key` in this folder",
  });
}
