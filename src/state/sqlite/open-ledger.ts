import { join } from "node:path";
import { hasOwnDatabase } from "../../files/database-files.ts";
import { tryWriting } from "../../files/write.ts";
import { isUnwritable, StoreError, unusableAt } from "../../store/store-error.ts";
import { emptyLedger } from "../empty-ledger.ts";
import type { Ledger } from "../ledger.ts";
import { openLedger } from "./ledger.ts";
import type { OnForgotten, State } from "./open.ts";

/** Whose ledger, and what it is opened for. */
export type LedgerUse = {
  readonly server: string;
  /** Whether nothing will be written to the control plane: then the ledger is read as it is where it cannot be written. */
  readonly reading: boolean;
  readonly onForgotten: OnForgotten;
  /** Told that the ledger was upgraded, and where its backup is. */
  readonly notify: (notice: string) => void;
};

/** Opens the ledger of one server in a state folder. */
export async function openStateLedger(
  { folder, key, isWritable }: State,
  { server, reading, onForgotten, notify }: LedgerUse,
): Promise<Ledger> {
  const path = join(folder, "ledger.db");
  if (isWritable) {
    try {
      return await openLedger(path, { server, key, notify });
    } catch (error) {
      if (!reading || !isUnwritable(error)) throw error;
      onForgotten("what is learned of the control plane", unusableAt(path, whyUnwritable(folder) ?? error));
    }
  }
  if (!hasOwnDatabase(path)) return emptyLedger(key);
  return readAsItIs(path, { server, key });
}

// SQLite does not say whether the disk is full or broken.
function whyUnwritable(folder: string): unknown {
  try {
    tryWriting(folder);
    return null;
  } catch (error) {
    return error;
  }
}

async function readAsItIs(
  path: string,
  place: { readonly server: string; readonly key: State["key"] },
): Promise<Ledger> {
  try {
    const ledger = await openLedger(path, { ...place, isReadOnly: true });
    return { ...ledger, rememberFacts: async () => undefined };
  } catch (error) {
    // Made just now, and nothing could be put into it.
    if (error instanceof StoreError && error.code === "empty") return emptyLedger(place.key);
    throw error;
  }
}
