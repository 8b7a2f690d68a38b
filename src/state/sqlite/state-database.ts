import { join } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { openSqliteReadOnly } from "../../store/sqlite/open-read-only.ts";
import type { Store } from "../../store/store.ts";
import { isUnwritable, StoreError } from "../../store/store-error.ts";
import type { StateDatabase } from "../database/state-database.ts";
import { requireSealedWith } from "../database/state-key.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";
import { hasEarlierFiles, retireEarlierFiles } from "./earlier-files.ts";
import { LEDGER_NAME, makeStateFolder } from "./ledger-folders.ts";

/** The database of a state folder. */
export type FolderDatabase = StateDatabase & { readonly path: string };

/** How a state database is opened. */
export type DatabaseUse = {
  readonly clock: Clock;
  /** Called when it was upgraded, with the location of its backup. */
  readonly notify?: ((notice: string) => void) | undefined;
  /** Whether another process writes with the folder; it may be of an earlier release, which an upgrade would break. */
  readonly isLockedByOther: () => boolean;
  /** The key that it must have been sealed with; null if there is none. */
  readonly readKey: () => Promise<SealKey | null>;
};

/** Creates the access to the database of a folder; opens nothing yet. */
export function folderDatabase(
  folder: string,
  { clock, notify, isLockedByOther, readKey }: DatabaseUse,
): FolderDatabase {
  const path = join(folder, LEDGER_NAME);
  let writer: Promise<Store<StateTables>> | null = null;
  let reader: Promise<Store<StateTables> | null> | null = null;
  const openWriter = async (): Promise<Store<StateTables>> => {
    await makeStateFolder(folder);
    const schema = ownDatabaseExists(path) && isLockedByOther() ? "leave" : "migrate";
    const options = { clock, schema, closesIdle: true, ...(notify === undefined ? {} : { notify }) } as const;
    const opening = openSqliteStore<StateTables>(path, stateMigrations(folder), options);
    const store = await (schema === "leave" ? opening.catch((error: unknown) => throwInUse(path, error)) : opening);
    await requireOwnKey(store);
    if (schema === "migrate") retireEarlierFiles(folder);
    return store;
  };
  const writable = (): Promise<Store<StateTables>> => {
    writer ??= openWriter().catch((error: unknown) => {
      writer = null;
      throw error;
    });
    return writer;
  };
  return {
    path,
    writable,
    readable: async () => {
      if (writer !== null) return writer;
      if (reader === null && !ownDatabaseExists(path)) return hasEarlierFiles(folder) ? writable() : null;
      // Reads that come at the same time share one connection.
      reader ??= openReader();
      const opened = await reader.catch((error: unknown) => {
        reader = null;
        throw error;
      });
      if (opened === null) reader = null;
      return opened;
    },
    [Symbol.asyncDispose]: async () => {
      await (await reader)?.close();
      await (await writer)?.close();
      [reader, writer] = [null, null];
    },
  };

  async function requireOwnKey(store: Store<StateTables>): Promise<void> {
    try {
      const key = await readKey();
      if (key !== null) await requireSealedWith(key, store.read, `the state in ${folder}`);
    } catch (error) {
      await store.close();
      throw error;
    }
  }

  async function openReader(): Promise<Store<StateTables> | null> {
    try {
      const store = await openSqliteReadOnly<StateTables>(path, stateMigrations(), clock);
      await requireOwnKey(store);
      return store;
    } catch (error) {
      if (error instanceof StoreError && OLDER.includes(error.code)) return upgraded(error);
      throw error;
    }
  }

  async function upgraded(older: StoreError): Promise<Store<StateTables> | null> {
    try {
      return await writable();
    } catch (error) {
      if (!isUnwritable(error)) throw error;
      // An empty file was just created, and the schema could not be written into it.
      if (older.code === "empty") return null;
      throw older;
    }
  }
}

function throwInUse(path: string, error: unknown): never {
  if (!(error instanceof StoreError) || error.code !== "older-schema") throw error;
  throw new StoreError(
    "locked",
    `${path}: it was written by an older release, and a process of that release is using it`,
  );
}

const OLDER: readonly string[] = ["older-schema", "empty"];
