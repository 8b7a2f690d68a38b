import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { addColumns, createTable } from "../create-table.ts";

/** Tables for idempotency keys, fencing tokens, leases, personal tokens and key rotation. */
export const exactlyOnce: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "kept_replies", {
      columns: { key_hash: "text", principal: "text", request: "text", sealed: "text", kept_until: "integer" },
      key: ["key_hash", "principal", "request"],
      indexes: [["kept_until"]],
    });
    await createTable(database, "fences", {
      columns: { principal: "text", scope: "text", number: "integer" },
      key: ["principal", "scope"],
    });
    await createTable(database, "leases", {
      columns: { scope: "text", holder: "text", principal: "text", number: "integer", expires_at: "integer" },
      key: ["scope"],
    });
    await createTable(database, "personal_tokens", {
      columns: {
        id: "text",
        created_at: "text",
        json: "text",
        hash: "text",
        owner_type: "text",
        owner_id: "text",
        name: "text",
      },
      key: ["id"],
      unique: [["hash"], ["owner_type", "owner_id", "name"]],
    });
    await createTable(database, "server_keys", {
      columns: { version: "text", sealed: "text", created_at: "text" },
      key: ["version"],
    });
    await addColumns(database, "audit", { key_hash: "text?", fencing_number: "integer?" });
    await addColumns(database, "jwts", { kid: "text?" });
  },
};
