// src/state/sqlite: the state in a folder, with SQLite. See docs/architecture.md#state.

import type { DatabaseSync } from "node:sqlite";
import type { Kysely } from "kysely";
import { HoldfastError } from "../../core/errors.ts";
import { SealError, unseal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { schemaState } from "../../store/migrate.ts";
import { rowsOf } from "../../store/prepared-query.ts";
import { openError } from "../../store/sqlite/open.ts";
import { openToRead } from "../../store/sqlite/open-connection.ts";
import { queryBuilder } from "../../store/sqlite/query-builder.ts";
import { StoreError } from "../../store/store-error.ts";
import { sealedWithAnotherKey } from "../database/state-key.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";

/** The content of a ledger for one server. */
export type ServerContent = {
  readonly server: string;
  readonly resources: number;
  /** Writes whose outcome is still unknown. */
  readonly pending: number;
};

/** The content of a ledger that was read completely and is intact. */
export type LedgerContent = {
  /** `older`: the next command that writes upgrades it, after a backup in the same folder. */
  readonly schema: "current" | "older";
  readonly servers: readonly ServerContent[];
};

/** Reads a whole ledger file without changing it; fails if it is damaged, newer, or sealed with another key. */
export async function checkLedger(path: string, key: SealKey): Promise<LedgerContent> {
  try {
    using connection = openToRead(path);
    const database = queryBuilder<StateTables>(connection);
    const { pending } = await schemaState(database, stateMigrations());
    requireIntact(connection);
    await requireSealed(database, key);
    return { schema: pending.length === 0 ? "current" : "older", servers: serversOf(connection) };
  } catch (error) {
    if (error instanceof SealError) throw unsealable(path, error);
    throw openError(path, error);
  }
}

function requireIntact(connection: DatabaseSync): void {
  const [first] = connection.prepare("PRAGMA quick_check(1)").all();
  if (first?.quick_check !== "ok") throw new StoreError("corrupt", "the check of its pages failed");
}

// Unseals only the columns of the first schema, which every release has.
async function requireSealed(database: Kysely<StateTables>, key: SealKey): Promise<void> {
  const receipts = database.selectFrom("receipt").select(["server", "identity", "sealed"]);
  for (const [server, identity, sealed] of await rowsOf<StateTables, readonly [string, string, Uint8Array]>(
    database,
    receipts,
  ))
    unseal(key, sealed, `receipt ${server} ${identity}`);
  const intents = database.selectFrom("intent").select(["id", "sealed"]);
  for (const [id, sealed] of await rowsOf<StateTables, readonly [string, Uint8Array]>(database, intents))
    unseal(key, sealed, `intent ${id}`);
}

/** The error where a ledger cannot be unsealed. */
export function unsealable(name: string, cause: SealError): HoldfastError {
  if (cause.code !== "other-key")
    return new HoldfastError("error", `${name}: a sealed value in it was changed`, { cause });
  return sealedWithAnotherKey(name, cause);
}

const SERVERS = `
  SELECT server, sum(resources) AS resources, sum(pending) AS pending FROM (
    SELECT server, 1 AS resources, 0 AS pending FROM receipt
    UNION ALL SELECT server, 0, 1 FROM intent
    UNION ALL SELECT server, 0, 0 FROM server
  ) GROUP BY server ORDER BY server`;

function serversOf(connection: DatabaseSync): readonly ServerContent[] {
  const rows = connection.prepare(SERVERS).all();
  return rows.map((row) => ({
    server: String(row.server),
    resources: Number(row.resources),
    pending: Number(row.pending),
  }));
}
