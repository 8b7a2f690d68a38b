import { statement } from "./test-database.ts";

/** The tables that the migrations from 0060 on have made. */
const newestTables = ["ended_tokens", "servers", "disabled_subjects", "digests"];

// What the migrations from 0040 on have made.
const undo = [
  "ALTER TABLE personal_tokens DROP COLUMN credential",
  "ALTER TABLE personal_tokens DROP COLUMN made_with",
  "ALTER TABLE personal_tokens DROP COLUMN last_used_at",
  "ALTER TABLE secrets DROP COLUMN account",
  "DELETE FROM grants WHERE source LIKE 'secret-group/%'",
  "CREATE TABLE fences (principal text NOT NULL, scope text NOT NULL, number bigint NOT NULL, PRIMARY KEY (principal, scope))",
  "DROP TABLE lease_numbers",
  "DELETE FROM kysely_migration WHERE name >= '0040'",
];

/** Turns the data of a control plane that is closed into what a release before the migrations from 0040 on has left. */
export async function toEarlierSchema(data: string): Promise<void> {
  await dropNewestTables(data);
  for (const text of undo) await statement(data, text);
}

/** Drops the tables that only the migrations from 0060 on have made. */
export async function dropNewestTables(data: string): Promise<void> {
  for (const table of newestTables) await statement(data, `DROP TABLE ${table}`);
}
