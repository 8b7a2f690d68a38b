import { join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { existingKey } from "./open-state.ts";
import type { LedgerContent } from "./sqlite/check-ledger.ts";
import { LEDGER_NAME, ledgerFolders } from "./sqlite/ledger-folders.ts";

/** A ledger of a state: its content, or the reason why it cannot be used. */
export type CheckedLedger = { readonly target: string | null } & (
  | { readonly content: LedgerContent }
  | { readonly error: unknown }
);

/** Reads every ledger of a state completely, and changes nothing. The list is empty until something has been recorded. */
export async function checkState(state: string, keyText: string | null): Promise<readonly CheckedLedger[]> {
  // Imported here, so that commands without a ledger do not load the database.
  const { checkLedger } = await import("./sqlite/check-ledger.ts");
  const checked: CheckedLedger[] = [];
  for (const { target, folder } of ledgerFolders(state)) {
    try {
      const key = await existingKey(folder, keyText);
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
