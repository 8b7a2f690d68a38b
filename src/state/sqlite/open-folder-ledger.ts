import { join } from "node:path";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { checkWritable } from "../../files/write-file.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { isUnwritable, StoreError, storageErrorAt, storeErrorCode } from "../../store/store-error.ts";
import type { Ledger } from "../ledger.ts";
import type { LedgerOptions, OnForgotten } from "../state.ts";
import { emptyLedger } from "./empty-ledger.ts";
import { LEDGER_NAME } from "./ledger-folders.ts";
import { openLedger } from "./open-ledger.ts";

/** A state folder, and how it is opened. */
export type StateFolder = {
  readonly folder: string;
  readonly key: SealKey;
  readonly isWritable: boolean;
  /** Whether nothing will be written to a control plane. A ledger that cannot be written is then opened read-only. */
  readonly reading: boolean;
  readonly onForgotten: OnForgotten;
};

/** Opens the ledger of one server in a state folder. */
export async function openFolderLedger(
  { folder, key, isWritable, reading, onForgotten }: StateFolder,
  server: string,
  options: LedgerOptions = {},
): Promise<Ledger> {
  const path = join(folder, LEDGER_NAME);
  if (isWritable) {
    try {
      const ledger = await openLedger(path, { ...options, server, key });
      return forgivingFacts(ledger, (error) => onForgotten(LEARNED, storageErrorAt(folder, error)));
    } catch (error) {
      if (!reading || !isUnwritable(error)) throw error;
      onForgotten(LEARNED, storageErrorAt(path, whyUnwritable(folder) ?? error));
    }
  }
  if (!ownDatabaseExists(path)) return emptyLedger(key);
  return openReadOnly(path, { server, key });
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

async function openReadOnly(path: string, place: { readonly server: string; readonly key: SealKey }): Promise<Ledger> {
  try {
    const ledger = await openLedger(path, { ...place, isReadOnly: true });
    return { ...ledger, storeFacts: async () => undefined };
  } catch (error) {
    // The file was just created, and the schema could not be written into it.
    if (error instanceof StoreError && error.code === "empty") return emptyLedger(place.key);
    throw error;
  }
}
