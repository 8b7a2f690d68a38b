import { sql } from "kysely";
import { HoldfastError } from "../../core/errors.ts";
import { publicAddress } from "../../store/postgres/address.ts";
import { openPostgresStore } from "../../store/postgres/open.ts";
import {
  type DatabaseSession,
  inTransaction,
  openDatabaseSession,
  takeDatabaseLock,
  unlessGone,
} from "../../store/postgres/session.ts";
import { openSqliteStore } from "../../store/sqlite/open.ts";
import { copyTables, numberedTables } from "../database/copy-tables.ts";
import { type StateTables, stateMigrations } from "../database/state-schema.ts";
import type { LedgerSource } from "../sqlite/export-state.ts";
import type { LedgerDestination } from "../sqlite/import-state.ts";
import { ledgerFolder } from "../sqlite/ledger-folders.ts";
import type { DatabasePlace, StateTransfer } from "../state.ts";
import { inUse, requireKey } from "./postgres-state.ts";
import { inSnapshot, schemaOf, shownSchema, stateSchemas, targetIn } from "./state-schemas.ts";
import { postgresStateMigrations } from "./state-tables.ts";
import { leaseHolder } from "./writer-lease.ts";

const POOLS = { read: 1, write: 1 };

/** The ledgers in a database, of all targets that were ever used with it. */
export async function databaseLedgers(
  { address, folder }: Omit<DatabasePlace, "target">,
  { keyText, exportKey, clock, random, stopping }: StateTransfer,
): Promise<readonly LedgerSource[]> {
  const key = requireKey(publicAddress(address), keyText);
  await using session = await openDatabaseSession(address, { clock, signal: stopping });
  const ledgers: LedgerSource[] = [];
  for (const schema of await stateSchemas(session)) {
    const name = shownSchema(publicAddress(address), schema);
    const target = await targetIn(session, schema, name);
    const copyTo = async (path: string): Promise<void> => {
      await inSnapshot({ address, schema, target }, { clock, random }, async (snapshot) => {
        await using copy = await openSqliteStore<StateTables>(path, stateMigrations(), { clock });
        await copyTables(snapshot, copy, { from: key, to: exportKey });
      });
    };
    ledgers.push({ target, name, folder: ledgerFolder(folder, target), copyTo });
  }
  return ledgers;
}

// No schema of a target ends like that.
const DRAFTS =
  "SELECT nspname AS schema FROM pg_namespace WHERE nspname ~ '^holdfast_importing_[0-9a-f]{8}_[0-9]{1,6}$'";

/**
 * A database without a ledger. Each ledger is copied into a draft, a schema of another name, and all of them get their
 * names in one transaction. Drafts that were left by a killed process are deleted by the next import.
 */
export async function emptyDatabase(
  { address }: Omit<DatabasePlace, "target">,
  { keyText, exportKey, clock, random }: StateTransfer,
): Promise<LedgerDestination> {
  const shown = publicAddress(address);
  const key = requireKey(shown, keyText);
  await using opening = new AsyncDisposableStack();
  const lock = await takeDatabaseLock(address, "state import", clock);
  if (lock === null) throw beingImported(shown);
  opening.use(lock);
  const session = opening.use(await openDatabaseSession(address, { clock }));
  for (const schema of await stateSchemas(session))
    await inTransaction(session, () => requireNoLedger(session, { schema, shown }));
  const left = await session.query<{ schema: string }>(DRAFTS);
  await dropSchemas(
    session,
    left.map(({ schema }) => schema),
  );
  const drafts = new Map<string, string>();
  const prefix = `holdfast_importing_${random.id().slice(0, 8)}`;
  // If the database is gone, the next import deletes them.
  opening.defer(() => dropSchemas(session, [...drafts.keys()]).catch(unlessGone));
  const open = opening.move();
  return {
    stage: async ({ target, path }) => {
      const draft = `${prefix}_${drafts.size + 1}`;
      drafts.set(draft, schemaOf(target));
      const migrations = postgresStateMigrations(target);
      await using store = await openPostgresStore<StateTables>(address, migrations, {
        ...{ clock, random, pools: POOLS },
        namespace: draft,
      });
      // Upgraded first, if it is of an earlier release.
      await using ledger = await openSqliteStore<StateTables>(path, stateMigrations(), { clock });
      await copyTables(ledger.read, store, { from: exportKey, to: key });
      await store.write(async (transaction) => {
        for (const table of numberedTables)
          await sql`SELECT setval(pg_get_serial_sequence(${table}, 'nth'), max(nth)) FROM ${sql.table(table)}`.execute(
            transaction,
          );
      });
    },
    commit: async () => {
      await inTransaction(session, () => nameDrafts(session, { drafts, shown }));
      drafts.clear();
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function nameDrafts(
  session: DatabaseSession,
  { drafts, shown }: { readonly drafts: ReadonlyMap<string, string>; readonly shown: string },
): Promise<void> {
  const names = [...drafts.values()];
  for (const schema of (await stateSchemas(session)).filter((name) => names.includes(name))) {
    await requireNoLedger(session, { schema, shown, isReplaced: true });
    await dropSchemas(session, [schema]);
  }
  for (const [draft, schema] of drafts) await session.query(`ALTER SCHEMA ${draft} RENAME TO ${schema}`);
}

// What says nothing about a target: a status that was asked for creates it too.
const EMPTY_TABLES = ["migration", "migration_lock", "commits"]
  .map((name) => `holdfast_${name}`)
  .concat("cache", "holder", "writer", "writer_lease", "target", "key_check");

/** Refuses a schema that a process is using, or that has anything in it. A schema that is replaced is locked first. */
async function requireNoLedger(
  session: DatabaseSession,
  {
    schema,
    shown,
    isReplaced = false,
  }: { readonly schema: string; readonly shown: string; readonly isReplaced?: boolean },
): Promise<void> {
  await session.query(`SET LOCAL search_path = ${schema}`);
  const found = await session.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = $1", [
    schema,
  ]);
  const tables = found.map(({ name }) => name);
  if (isReplaced) await session.query(`LOCK TABLE ${tables.map(quoted).join(", ")} IN ACCESS EXCLUSIVE MODE`);
  const holder = await leaseHolder(session);
  if (holder !== null) throw inUse(shownSchema(shown, schema), holder.by);
  const rows = tables
    .filter((name) => !EMPTY_TABLES.includes(name))
    .map((name) => `EXISTS (SELECT 1 FROM ${quoted(name)})`);
  const [filled] = await session.query<{ filled: boolean }>(`SELECT ${rows.join(" OR ")} AS filled`);
  if (filled?.filled !== true) return;
  throw new HoldfastError("refused", `the state in ${shownSchema(shown, schema)} has a ledger already`, {
    hint: `name an empty database, or delete that state with DROP SCHEMA ${schema} CASCADE; nothing was changed`,
  });
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

async function dropSchemas(session: DatabaseSession, schemas: readonly string[]): Promise<void> {
  // One by one, since each needs a lock for every table in it.
  for (const schema of schemas) await session.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

function beingImported(shown: string): HoldfastError {
  return new HoldfastError("locked", `another holdfast process is importing a state into ${shown}`, {
    hint: "wait until it ends, or stop it",
  });
}
