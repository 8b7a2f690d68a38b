import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../create-table.ts";

/**
 * One sequence of fencing numbers for all scopes, since scopes overlap. Existing leases end: their numbers cannot be
 * compared with each other, and their holders have to take them again.
 */
export const leaseTree: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "lease_numbers", { columns: { name: "text", number: "integer" }, key: ["name"] });
    await sql`INSERT INTO lease_numbers (name, number) VALUES ('changes', 0)`.execute(database);
    await sql`INSERT INTO lease_numbers (name, number) SELECT 'issued', COALESCE(MAX(number), 0) FROM leases`.execute(
      database,
    );
    await sql`DELETE FROM leases`.execute(database);
    // Numbers that were never issued are refused now, so they need not be stored.
    await sql`DROP TABLE fences`.execute(database);
  },
};
