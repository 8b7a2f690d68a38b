import { join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { existingKey } from "./open-state.ts";
import type { LedgerContent } from "./sqlite/check-ledger.ts";
import { LEDGER_NAME, ledgerFolders } from "./sqlite/ledger-folders.ts";

/** A ledger of a state: what it holds, or why it cannot be used. */
export type CheckedLedger = { readonly target: string | null } & (
  | { readonly content: LedgerContent }
  | { readonly error: unknown }
);

/** Reads every ledger of a state as a whole, and changes nothing; there is none where nothing was recorded yet. */
export async function checkState(state: string, keyText: string | null): Promise<readonly CheckedLedger[]> {
  // A command that opens no ledger loads no database.
  const { checkLedger } = await import("./sqlite/check-ledger.ts");
  const checked: CheckedLedger[] = [];
  for (const { target, folder } of ledgerFolders(state)) {
    try {
      const key = await existingKey(folder, { keyText });
      if (key === null) throw noKey(folder);
      checked.push({ target, content: await checkLedger(join(folder, LEDGER_NAME), key) });
    } catch (error) {
      checked.push({ target, error });
    }
  }
  return checked;
}

function noKey(folder: string): HoldfastError {
  return new HoldfastError("error", `the key of ${folder} is not there, or cannot be used`, {
    hint: "give the one that it was made with: HOLDFAST_STATE_KEY_FILE, or the file `key` in it",
  });
}
