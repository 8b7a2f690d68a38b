import type { Kysely } from "kysely";
import { CommitThread } from "./commit-thread.ts";
import type { Migrations } from "./migrate.ts";
import { type OpenOptions, openStore } from "./open.ts";
import type { Statement } from "./statement.ts";

/** A database of ours that this process alone writes, by statements that nothing has to be read for. */
export type ThreadedStore<Tables> = AsyncDisposable & {
  /** Sees what was committed, and never waits for a writer. */
  readonly read: Kysely<Tables>;
  /**
   * Resolves once all the statements are durable, together; none of them is there when it rejects.
   */
  write(statements: readonly Statement[]): Promise<void>;
  /** Waits for the writes under way and lets go of the database. */
  close(): Promise<void>;
};

/** Opens a SQLite file whose commits are made in a thread of their own, and brings its schema up to date. */
export async function openThreadedStore<Tables>(
  path: string,
  migrations: Migrations,
  options: Pick<OpenOptions, "notify"> = {},
): Promise<ThreadedStore<Tables>> {
  const store = await openStore<Tables>(path, migrations, options);
  const thread = new CommitThread(path);
  // The store goes last: whoever closes it last puts the log away.
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
