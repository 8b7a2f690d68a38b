import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

// Each with the member that follows it in what we wrote, so that nothing in a manifest is meant.
const replacements = [
  { table: "teams", from: '"description":null,"tenantName":', to: '"description":"","tenantName":' },
  { table: "deployments", from: '"transition":null,"message":', to: '"transition":"","message":' },
  { table: "job_runs", from: '"command":null,"error":', to: '"command":"","error":' },
  {
    table: "virtual_accounts",
    from: '"expiry":null,"createdAt":',
    to: '"expiry":"9999-12-31T23:59:59.999Z","createdAt":',
  },
] as const;

/** Texts that clients take for granted are never null: what was written as null before gets its text. */
export const requiredTexts: Migration = {
  up: async (database: Kysely<unknown>) => {
    for (const { table, from, to } of replacements) {
      await sql`UPDATE ${sql.table(table)} SET json = REPLACE(json, ${from}, ${to}) WHERE json LIKE ${`%${from}%`}`.execute(
        database,
      );
    }
  },
};
