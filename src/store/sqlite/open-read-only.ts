import type { Clock } from "../../clock/clock.ts";
import { type Migrations, requireSchema } from "../migrate.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { openError } from "./open.ts";
import { openToRead } from "./open-connection.ts";
import { queryBuilderOver } from "./query-builder.ts";
import { reopening } from "./reopening-connection.ts";
import { isCurrent } from "./upgrade-schema.ts";

/** Opens a SQLite file read-only, which also works on a read-only file system; it is closed while nothing uses it. */
export async function openSqliteReadOnly<Tables>(
  path: string,
  migrations: Migrations,
  clock: Clock,
): Promise<Store<Tables>> {
  try {
    using opening = new DisposableStack();
    const first = openToRead(path);
    const read = queryBuilderOver<Tables>(opening.use(reopening(first, () => openToRead(path), clock)));
    if (!isCurrent(first, migrations)) await requireSchema(read, migrations);
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
