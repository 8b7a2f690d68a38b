import { type Kysely, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { StoreError } from "./store-error.ts";

/** The steps that make a schema, by name; they run once each, in the order of their names. */
export type Migrations = { readonly [name: string]: Migration };

/** What is to be done about a schema: brought up to date, or left as it is for those who are using it. */
export type SchemaMode = "migrate" | "leave";

/** Which steps a schema has had and which not, by name and in their order. */
export type SchemaState = { readonly applied: readonly string[]; readonly pending: readonly string[] };

/** Brings the schema up to date, or refuses a database that a newer release has changed. */
export async function migrate<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<void> {
  await schemaState(database, migrations);
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Refuses a database whose schema is not that of this release. */
export async function requireSchema<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<void> {
  const { applied, pending } = await schemaState(database, migrations);
  const [missing] = pending;
  if (missing === undefined) return;
  if (applied.length === 0) throw new StoreError("empty", "the database has no schema yet");
  throw new StoreError("older-schema", `the database has not had the change "${missing}" yet`);
}

/** Reads how far a schema is, and refuses one that a newer release has changed. */
export async function schemaState<Tables>(database: Kysely<Tables>, migrations: Migrations): Promise<SchemaState> {
  const applied = (await appliedNames(database)).toSorted();
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined) {
    throw new StoreError("newer-schema", `the database has the change "${unknown}", which this release does not know`);
  }
  const pending = Object.keys(migrations).filter((name) => !applied.includes(name));
  return { applied, pending: pending.toSorted() };
}

async function appliedNames<Tables>(database: Kysely<Tables>): Promise<readonly string[]> {
  const tables = await database.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === "kysely_migration")) return [];
  const { rows } = await sql<{ readonly name: string }>`SELECT name FROM kysely_migration`.execute(database);
  return rows.map(({ name }) => name);
}
