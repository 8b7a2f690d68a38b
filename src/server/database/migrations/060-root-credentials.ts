import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../create-table.ts";

/** Records which tokens of the administrator have ended, and which servers run on a shared database. */
export const rootCredentials: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "ended_tokens", { columns: { hash: "text", ended_at: "text" }, key: ["hash"] });
    await createTable(database, "servers", { columns: { id: "text", seen_at: "integer" }, key: ["id"] });
  },
};
