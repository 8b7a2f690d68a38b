import { isDeepStrictEqual } from "node:util";
import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreError } from "./store-error.ts";

/** The migrations of a schema by name; each runs once, in the order of names. */
export type Migrations = { readonly [name: string]: Migration };

/** Whether opening a database migrates its schema, or requires the current one: another process may be using it. */
export type SchemaMode = "migrate" | "leave";

/** The migrations that were applied, and the pending ones, in their order. */
export type SchemaState = { readonly applied: readonly string[]; readonly pending: readonly string[] };

/**
 * Applies the pending migrations; refuses a database that a newer release has changed. The tables are in a schema of
 * PostgreSQL, which is created when absent, if one is named.
 */
export async function migrate<Tables>(
  database: Kysely<Tables>,
  migrations: Migrations,
  namespace?: string,
): Promise<void> {
  await schemaState(database, migrations, namespace);
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => ({ ...migrations }) },
    ...(namespace === undefined ? {} : { migrationTableSchema: namespace, ...OWN_TABLES }),
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

// The migrator looks for a table of its own name in all schemas where none is named, so those in a schema have others.
const OWN_TABLES = { migrationTableName: "holdfast_migration", migrationLockTableName: "holdfast_migration_lock" };

/** Refuses a database whose schema is not that of this release. */
export async function requireSchema<Tables>(
  database: Kysely<Tables>,
  migrations: Migrations,
  namespace?: string,
): Promise<void> {
  // Only PostgreSQL has schemas with names.
  if (namespace !== undefined && (await isMigrated(database, migrations, namespace))) return;
  const { applied, pending } = await schemaState(database, migrations, namespace);
  const [missing] = pending;
  if (missing === undefined) return;
  if (applied.length === 0) throw new StoreError("empty", "the database has no schema yet");
  throw new StoreError("older-schema", `the database lacks the migration "${missing}"`);
}

/** Reads which migrations were applied; refuses a schema that a newer release has changed. */
export async function schemaState<Tables>(
  database: Kysely<Tables>,
  migrations: Migrations,
  namespace?: string,
): Promise<SchemaState> {
  const applied = (await appliedNames(database, namespace)).toSorted();
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError("newer-schema", `the database has the migration "${unknown}", unknown to this release`);
  }
  const pending = Object.keys(migrations).filter((name) => !applied.includes(name));
  return { applied, pending: pending.toSorted() };
}

/**
 * Whether a PostgreSQL database has exactly these migrations. The migrator reads the columns of all tables first, which takes
 * longer than all else that opening a database does.
 */
export async function isMigrated<Tables>(
  database: Kysely<Tables>,
  migrations: Migrations,
  namespace: string | undefined,
): Promise<boolean> {
  const table = tableOf(namespace);
  const named =
    namespace === undefined ? sql`${table}::text` : sql`format('%I.%I', ${namespace}::text, ${table}::text)`;
  const found = await sql<{ readonly found: string | null }>`SELECT to_regclass(${named})::text AS found`.execute(
    database,
  );
  if (found.rows[0]?.found == null) return false;
  const names = await namesIn(database, table);
  return isDeepStrictEqual(names.toSorted(), Object.keys(migrations).toSorted());
}

async function appliedNames<Tables>(
  database: Kysely<Tables>,
  namespace: string | undefined,
): Promise<readonly string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  const table = tableOf(namespace);
  if (!tables.some(({ name, schema }) => name === table && (namespace ?? schema) === schema)) return [];
  return namesIn(database, table);
}

function tableOf(namespace: string | undefined): string {
  return namespace === undefined ? "kysely_migration" : OWN_TABLES.migrationTableName;
}

async function namesIn<Tables>(database: Kysely<Tables>, table: string): Promise<readonly string[]> {
  const { rows } = await sql<{ readonly name: string }>`SELECT name FROM ${sql.table(table)}`.execute(database);
  return rows.map(({ name }) => name);
}
