import type { Kysely } from "kysely";
import { CommitThread } from "./commit-thread.ts";
import type { Migrations } from "./migrate.ts";
import { type OpenOptions, openStore } from "./open.ts";
import type { Statement } from "./statement.ts";

/** A database that only this process writes, by statements that depend on no read. */
export type ThreadedStore<Tables> = AsyncDisposable & {
  /** Reads committed data, without waiting for writers. */
  readonly read: Kysely<Tables>;
  /**
   * Resolves when all the statements are durable; when it rejects, none of them is applied.
   */
  write(statements: readonly Statement[]): Promise<void>;
  /** Waits for pending writes and closes the database. */
  close(): Promise<void>;
};

/** Opens a SQLite file that is committed in a worker thread, and migrates its schema. */
export async function openThreadedStore<Tables>(
  path: string,
  migrations: Migrations,
  options: Pick<OpenOptions, "notify"> = {},
): Promise<ThreadedStore<Tables>> {
  const store = await openStore<Tables>(path, migrations, options);
  const thread = new CommitThread(path);
  // The store is closed last: the last connection deletes the log.
  const close = async () => {
    await thread.close();
    await store.close();
  };
  return {
    read: store.read,
    write: (statements) => thread.commit(statements),
    close,
    [Symbol.asyncDispose]: close,
  };
}
