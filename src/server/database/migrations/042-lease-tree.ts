import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../create-table.ts";

/**
 * One sequence of fencing numbers for all scopes, which overlap. Leases of before end: their numbers cannot be compared
 * with each other, and whoever writes under one has to take it anew.
 */
export const leaseTree: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "lease_numbers", { columns: { name: "text", number: "integer" }, key: ["name"] });
    await sql`INSERT INTO lease_numbers (name, number) VALUES ('changes', 0)`.execute(database);
    await sql`INSERT INTO lease_numbers (name, number) SELECT 'issued', COALESCE(MAX(number), 0) FROM leases`.execute(
      database,
    );
    await sql`DELETE FROM leases`.execute(database);
    // Numbers that callers made up are refused, and so there are none to remember.
    await sql`DROP TABLE fences`.execute(database);
  },
};
