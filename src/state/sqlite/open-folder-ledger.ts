import { checkWritable } from "../../files/write-file.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { isUnwritable, storageErrorAt, storeErrorCode } from "../../store/store-error.ts";
import { emptyLedger, ledgerIn } from "../database/ledger.ts";
import type { Ledger } from "../ledger.ts";
import type { OnForgotten } from "../state.ts";
import type { FolderDatabase } from "./state-database.ts";

/** How the ledger of a server is opened. */
export type LedgerOpening = {
  readonly folder: string;
  readonly server: string;
  readonly key: SealKey;
  readonly isWritable: boolean;
  /** Whether nothing will be written to a control plane. A ledger that cannot be written is then opened read-only. */
  readonly reading: boolean;
  readonly onForgotten: OnForgotten;
};

/** Opens the ledger of one server in the database of a state folder. */
export async function openFolderLedger(database: FolderDatabase, opening: LedgerOpening): Promise<Ledger> {
  const { folder, isWritable, reading, onForgotten } = opening;
  if (isWritable) {
    try {
      const ledger = await ledgerIn(await database.writable(), opening);
      return forgivingFacts(ledger, (error) => onForgotten(LEARNED, storageErrorAt(folder, error)));
    } catch (error) {
      if (!reading || !isUnwritable(error)) throw error;
      onForgotten(LEARNED, storageErrorAt(database.path, whyUnwritable(folder) ?? error));
    }
  }
  const store = await database.readable();
  if (store === null) return emptyLedger(opening.key);
  return { ...(await ledgerIn(store, opening)), storeFacts: async () => undefined };
}

const LEARNED = "what is learned about the control plane";

// Facts about a server are learned again by the next run, so a full disk is no reason to fail here.
function forgivingFacts(ledger: Ledger, onUnwritable: (error: unknown) => void): Ledger {
  const storeFacts: Ledger["storeFacts"] = (learned) =>
    ledger.storeFacts(learned).catch((error: unknown) => {
      const fault = storeErrorCode(error);
      if (fault !== "inaccessible" && fault !== "full") throw error;
      onUnwritable(error);
    });
  return { ...ledger, storeFacts };
}

// SQLite does not report whether the disk is full or defective, so a test file is written.
function whyUnwritable(folder: string): unknown {
  try {
    checkWritable(folder);
    return null;
  } catch (error) {
    return error;
  }
}
