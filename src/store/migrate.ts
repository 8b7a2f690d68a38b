import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreError } from "./store-error.ts";

/** The steps that make a schema, by name; they run once each, in the order of their names. */
export type Migrations = { readonly [name: string]: Migration };

/** What is to be done about a schema: brought up to date, or left as it is for those who are using it. */
export type SchemaCare = "migrate" | "leave";

/** Brings the schema up to date, or refuses a database that a newer release has changed. */
export async function migrate<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<void> {
  refuseNewer(await appliedNames(database), migrations);
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Refuses a database whose schema is not that of this release. */
export async function requireSchema<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const applied = await appliedNames(database);
  refuseNewer(applied, migrations);
  const missing = Object.keys(migrations).find((name) => !applied.includes(name));
  if (missing === undefined) return;
  throw new StoreError("older-schema", `the database has not had the change "${missing}" yet`);
}

function refuseNewer(applied: readonly string[], migrations: Migrations): void {
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown === undefined) return;
  throw new StoreError("newer-schema", `the database has the change "${unknown}", which this release does not know`);
}

async function appliedNames<Tables>(database: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === "kysely_migration")) return [];
  const { rows } = await sql<{ readonly name: string }>`SELECT name FROM kysely_migration`.execute(database);
  return rows.map(({ name }) => name);
}
