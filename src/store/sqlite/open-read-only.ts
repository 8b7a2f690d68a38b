import { type Migrations, requireSchema } from "../migrate.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { openError } from "./open.ts";
import { openToRead } from "./open-connection.ts";
import { queryBuilder } from "./query-builder.ts";

/** Opens a SQLite file read-only, which also works on a read-only file system. */
export async function openSqliteReadOnly<Tables>(path: string, migrations: Migrations): Promise<Store<Tables>> {
  try {
    const read = queryBuilder<Tables>(openToRead(path));
    const close = () => read.destroy();
    await requireSchema(read, migrations).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    const refuse = () => Promise.reject(new StoreError("inaccessible", `${path} cannot be written`));
    return {
      read,
      write: refuse,
      time: refuse,
      commits: () => 0,
      isShared: true,
      unwritable: async () => "inaccessible",
      connections: () => [],
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    throw openError(path, error);
  }
}
