// src/state/sqlite: the state in a folder, with SQLite. See docs/architecture.md#state.

import type { DatabaseSync } from "node:sqlite";
import { SealError } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { schemaState } from "../../store/migrate.ts";
import { openError } from "../../store/sqlite/open.ts";
import { openToRead } from "../../store/sqlite/open-connection.ts";
import { queryBuilder } from "../../store/sqlite/query-builder.ts";
import { StoreError } from "../../store/store-error.ts";
import type { LedgerContent } from "../checked-ledger.ts";
import { requireTablesSealed } from "../database/copy-tables.ts";
import { serversIn } from "../database/ledger-content.ts";
import { unsealable } from "../database/state-key.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";

/** Reads a whole ledger file without changing it; fails if it is damaged, newer, or sealed with another key. */
export async function checkLedger(path: string, key: SealKey): Promise<LedgerContent> {
  try {
    using connection = openToRead(path);
    const database = queryBuilder<StateTables>(connection);
    const { pending } = await schemaState(database, stateMigrations());
    requireIntact(connection);
    await requireTablesSealed(database, key);
    return { schema: pending.length === 0 ? "current" : "older", servers: await serversIn(database) };
  } catch (error) {
    throw error instanceof SealError ? unsealable(path, error) : openError(path, error);
  }
}

function requireIntact(connection: DatabaseSync): void {
  const [first] = connection.prepare("PRAGMA quick_check(1)").all();
  if (first?.quick_check !== "ok") throw new StoreError("corrupt", "the check of its pages failed");
}
