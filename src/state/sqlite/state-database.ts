import { join } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { openSqliteReadOnly } from "../../store/sqlite/open-read-only.ts";
import { openStatementStore, type StatementStore } from "../../store/sqlite/statement-store.ts";
import { isUnwritable, StoreError } from "../../store/store-error.ts";
import { hasEarlierFiles, retireEarlierFiles } from "./earlier-files.ts";
import { LEDGER_NAME, makeStateFolder } from "./ledger-folders.ts";
import { type StateTables, stateMigrations } from "./state-schema.ts";

/** The database of a state folder. A process opens it once, so that no transaction of its own blocks another one. */
export type StateDatabase = AsyncDisposable & {
  readonly path: string;
  /** Opens it for writing; creates it, or takes over what an earlier release left. */
  readonly writable: () => Promise<StatementStore<StateTables>>;
  /** Opens it as it can be opened; null if nothing was stored yet. */
  readonly readable: () => Promise<StatementStore<StateTables> | null>;
};

/** How a state database is opened. */
export type StateDatabaseOptions = {
  readonly clock: Clock;
  /** Called when it was upgraded, with the location of its backup. */
  readonly notify?: ((notice: string) => void) | undefined;
  /** Whether another process writes with the folder; it may be of an earlier release, which an upgrade would break. */
  readonly isLockedByOther: () => boolean;
};

/** Creates the access to the database of a folder; opens nothing yet. */
export function stateDatabase(folder: string, { clock, notify, isLockedByOther }: StateDatabaseOptions): StateDatabase {
  const path = join(folder, LEDGER_NAME);
  let writer: Promise<StatementStore<StateTables>> | null = null;
  let reader: Promise<StatementStore<StateTables> | null> | null = null;
  const openWriter = async (): Promise<StatementStore<StateTables>> => {
    await makeStateFolder(folder);
    const schema = ownDatabaseExists(path) && isLockedByOther() ? "leave" : "migrate";
    const options = { clock, schema, ...(notify === undefined ? {} : { notify }) } as const;
    const opening = openStatementStore<StateTables>(path, stateMigrations(folder), options);
    const store = await (schema === "leave" ? opening.catch((error: unknown) => throwInUse(path, error)) : opening);
    if (schema === "migrate") retireEarlierFiles(folder);
    return store;
  };
  const writable = (): Promise<StatementStore<StateTables>> => {
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

  async function openReader(): Promise<StatementStore<StateTables> | null> {
    try {
      return await openSqliteReadOnly<StateTables>(path, stateMigrations());
    } catch (error) {
      if (error instanceof StoreError && OLDER.includes(error.code)) return upgraded(error);
      throw error;
    }
  }

  async function upgraded(older: StoreError): Promise<StatementStore<StateTables> | null> {
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

/** The id in the name under which leases are taken; it is made once. */
export async function holderId(database: StateDatabase, random: Random): Promise<string> {
  const made = { one: 1, id: random.id().slice(0, 8) };
  return (await database.writable()).change(async (transaction) => {
    await transaction
      .insertInto("holder")
      .values(made)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await transaction.selectFrom("holder").select("id").executeTakeFirstOrThrow()).id;
  });
}
