import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { type Migrations, requireSchema } from "../migrate.ts";
import { StoreError } from "../store-error.ts";
import { openError } from "./open.ts";
import { openSqliteConnection } from "./open-connection.ts";
import { queryBuilder } from "./query-builder.ts";
import type { StatementStore } from "./statement-store.ts";

/** Opens a SQLite file read-only, which also works on a read-only file system. */
export async function openSqliteReadOnly<Tables>(
  path: string,
  migrations: Migrations,
): Promise<StatementStore<Tables>> {
  try {
    const read = queryBuilder<Tables>(connectReadOnly(path));
    const close = () => read.destroy();
    await requireSchema(read, migrations).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    const refuse = () => Promise.reject(new StoreError("inaccessible", `${path} cannot be written`));
    return { read, write: refuse, change: refuse, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    throw openError(path, error);
  }
}

// With WAL, SQLite needs to create a shared-memory file, which fails here. When the log is empty, the database can be
// opened as immutable without it.
function connectReadOnly(path: string): DatabaseSync {
  try {
    return readable(openSqliteConnection(path, { readOnly: true }));
  } catch (error) {
    if ((lstatOrNull(`${path}-wal`)?.size ?? 0) > 0) throw error;
    const url = pathToFileURL(path);
    url.searchParams.set("immutable", "1");
    return readable(new DatabaseSync(url, { readOnly: true }));
  }
}

function readable(database: DatabaseSync): DatabaseSync {
  try {
    database.exec("PRAGMA trusted_schema = OFF; SELECT count(*) FROM sqlite_schema");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
