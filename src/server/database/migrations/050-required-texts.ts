import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

// Each with the member that follows it in the stored JSON, so that the content of manifests cannot match.
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

/** Replaces null in texts that clients expect to be present. */
export const requiredTexts: Migration = {
  up: async (database: Kysely<unknown>) => {
    for (const { table, from, to } of replacements) {
      await sql`UPDATE ${sql.table(table)} SET json = REPLACE(json, ${from}, ${to}) WHERE json LIKE ${`%${from}%`}`.execute(
        database,
      );
    }
  },
};
