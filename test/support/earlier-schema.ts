import { statement } from "./test-database.ts";

// What the migrations from 0060 on have made.
const newest = [
  "DROP TABLE ended_tokens",
  "DROP TABLE servers",
  "DROP TABLE audit_marks",
  "DROP TABLE audit_keys",
  "DROP INDEX audit_of_tokens",
  ...["outcome", "details", "chain", "number", "key_id", "link"].map((name) => `ALTER TABLE audit DROP COLUMN ${name}`),
  "DROP TABLE disabled_subjects",
  "DROP TABLE digests",
  "DROP TABLE rollout_failures",
  "DROP TABLE retention",
  "DROP TABLE file_stages",
  "DROP TABLE staged_files",
  "DROP INDEX applications_by_workspace_id_type_created_at_id",
  "CREATE INDEX applications_by_workspace_id_created_at_id ON applications (workspace_id, created_at, id)",
  "DROP INDEX users_by_issuer_issuer_subject",
  ...["created_at", "sign_in", "issuer", "issuer_subject", "signed_in_at", "removed_at"].map(
    (column) => `ALTER TABLE users DROP COLUMN ${column}`,
  ),
  "ALTER TABLE tokens DROP COLUMN not_before",
  "DROP TABLE user_groups",
  "DROP INDEX teams_by_issuer_group",
  "ALTER TABLE teams DROP COLUMN issuer_group",
];

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
  await undoNewest(data);
  for (const text of undo) await statement(data, text);
}

/** Undoes what only the migrations from 0060 on have made. */
export async function undoNewest(data: string): Promise<void> {
  for (const text of newest) await statement(data, text);
}
