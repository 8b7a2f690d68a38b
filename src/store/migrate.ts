import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreError } from "./store-error.ts";

/** The steps that make a schema, by name; they run once each, in the order of their names. */
export type Migrations = { readonly [name: string]: Migration };

/** Brings the schema up to date, or refuses a database that a newer release has changed. */
export async function migrate<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const unknown = (await appliedNames(database)).find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError("newer-schema", `the database has the change "${unknown}", which this release does not know`);
  }
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

async function appliedNames<Tables>(database: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === "kysely_migration")) return [];
  const { rows } = await sql<{ readonly name: string }>`SELECT name FROM kysely_migration`.execute(database);
  return rows.map(({ name }) => name);
}
