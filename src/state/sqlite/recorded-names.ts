import { join } from "node:path";
import type { Identity } from "../../core/manifest.ts";
import { ownDatabaseExists } from "../../files/own-database.ts";
import { openError } from "../../store/sqlite/open.ts";
import { openToRead } from "../../store/sqlite/open-connection.ts";
import { iterateRows, queryBuilder } from "../../store/sqlite/query-builder.ts";
import { LEDGER_NAME } from "./ledger-folders.ts";
import type { StateTables } from "./state-schema.ts";

/** The resources that a state folder has records of, on any server. */
export function recordedNames(folder: string): readonly Identity[] {
  const path = join(folder, LEDGER_NAME);
  if (!ownDatabaseExists(path)) return [];
  try {
    using connection = openToRead(path);
    const database = queryBuilder<StateTables>(connection);
    const query = database.selectFrom("receipt").select("identity").distinct().compile();
    return [...iterateRows<readonly [string]>(database.getExecutor(), query)].map(([identity]) => identity);
  } catch (error) {
    throw openError(path, error);
  }
}
