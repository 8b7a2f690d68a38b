import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { addColumns } from "../create-table.ts";

/** Records the credential that each personal token depends on, the one that created it, and when it was last used. */
export const tokenCredentials: Migration = {
  up: async (database: Kysely<unknown>) => {
    await addColumns(database, "personal_tokens", {
      credential: "text?",
      made_with: "text?",
      last_used_at: "integer?",
    });
    // The credential of existing tokens was not recorded: they depend on their owner's current one.
    await sql`UPDATE personal_tokens SET credential = (
      SELECT hash FROM tokens WHERE user_id = owner_id ORDER BY created_at DESC LIMIT 1
    ) WHERE owner_type = 'user'`.execute(database);
    await sql`UPDATE personal_tokens SET credential = (
      SELECT id FROM jwts WHERE account_id = owner_id AND valid_until IS NULL ORDER BY created_at DESC LIMIT 1
    ) WHERE owner_type = 'virtualaccount'`.execute(database);
  },
};
