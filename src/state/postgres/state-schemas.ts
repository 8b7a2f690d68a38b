import { createHash } from "node:crypto";
import type { Transaction } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { publicAddress } from "../../store/postgres/address.ts";
import { openPostgresStore } from "../../store/postgres/open.ts";
import type { DatabaseSession } from "../../store/postgres/session.ts";
import { StoreError } from "../../store/store-error.ts";
import type { StateTables } from "../database/state-schema.ts";
import { postgresStateMigrations } from "./state-tables.ts";

/** The schema that has the state of a target. */
export function schemaOf(target: string | null): string {
  if (target === null) return "holdfast";
  // The names of targets have characters that those of schemas have not, so a digest tells them apart.
  const readable = target
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "_")
    .slice(0, 32);
  return `holdfast_${readable}_${createHash("sha256").update(target).digest("hex").slice(0, 8)}`;
}

/** How messages name a schema of a database, whose address has no password. */
export function shownSchema(address: string, schema: string): string {
  return `${address} (schema ${schema})`;
}

const SCHEMAS = `
  SELECT nspname AS schema FROM pg_namespace
  WHERE nspname ~ '^holdfast(_.*_[0-9a-f]{8})?$' AND to_regclass(quote_ident(nspname) || '.receipt') IS NOT NULL
  ORDER BY nspname`;

/** The schemas of a database that have the states of targets. */
export async function stateSchemas(session: DatabaseSession): Promise<readonly string[]> {
  const rows = await session.query<{ schema: string }>(SCHEMAS);
  return rows.map(({ schema }) => schema);
}

/** The target that has its state in a schema; null for a configuration that names no targets. */
export async function targetIn(session: DatabaseSession, schema: string, shown: string): Promise<string | null> {
  if (schema === schemaOf(null)) return null;
  const [table] = await session.query<{ name: string | null }>("SELECT to_regclass($1) AS name", [`${schema}.target`]);
  if (table?.name == null) throw olderSchema(shown);
  const [row] = await session.query<{ name: string }>(`SELECT name FROM ${schema}.target`);
  // It becomes the name of a folder.
  if (row !== undefined && /^[A-Za-z0-9][\w.-]*$/.test(row.name) && schemaOf(row.name) === schema) return row.name;
  throw new HoldfastError("error", `${shown} has no name of a target that belongs to it`, {
    hint: "a schema cannot be renamed: restore its former name",
  });
}

// The error where a state was written by an older release.
function olderSchema(shown: string): HoldfastError {
  return new HoldfastError("error", `${shown} was written by an older release and has not been upgraded`, {
    hint: "run holdfast status with the configuration of its targets, which upgrades it; then run this again",
  });
}

/** A schema of a database that has the state of a target. */
export type StateSchema = { readonly address: Secret; readonly schema: string; readonly target: string | null };

/** Reads the state in a schema as it is at one moment, and changes nothing; fails where an older release has written it. */
export async function inSnapshot<Result>(
  { address, schema, target }: StateSchema,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  read: (snapshot: Transaction<StateTables>) => Promise<Result>,
): Promise<Result> {
  const options = { clock, random, schema: "leave", namespace: schema, pools: { read: 1, write: 1 } } as const;
  const opening = openPostgresStore<StateTables>(address, postgresStateMigrations(target), options);
  await using store = await opening.catch((error: unknown) => {
    const isOlder = error instanceof StoreError && error.code === "older-schema";
    throw isOlder ? olderSchema(shownSchema(publicAddress(address), schema)) : error;
  });
  return await store.read.transaction().setIsolationLevel("repeatable read").execute(read);
}
