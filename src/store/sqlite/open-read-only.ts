import { type Migrations, requireSchema } from "../migrate.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { openError } from "./open.ts";
import { openToRead } from "./open-connection.ts";
import { queryBuilder } from "./query-builder.ts";
import { isCurrent } from "./upgrade-schema.ts";

/** Opens a SQLite file read-only, which also works on a read-only file system. */
export async function openSqliteReadOnly<Tables>(path: string, migrations: Migrations): Promise<Store<Tables>> {
  try {
    using opening = new DisposableStack();
    const connection = opening.use(openToRead(path));
    const read = queryBuilder<Tables>(connection);
    if (!isCurrent(connection, migrations)) await requireSchema(read, migrations);
    const opened = opening.move();
    const close = async () => opened.dispose();
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
