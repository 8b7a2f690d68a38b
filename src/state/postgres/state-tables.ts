// src/state/postgres: the state in a PostgreSQL database. See docs/operations.md#a-state-in-postgresql.

import { sql } from "kysely";
import { createTable, type TableDefinition } from "../../store/create-table.ts";
import type { Migrations } from "../../store/migrate.ts";
import { type StateTables, sharedMigrations } from "../database/state-schema.ts";
import { createCacheTable } from "./cache-table.ts";

/** The tables as they were at first, with the one that says who writes. */
const tables: {
  readonly [table in
    | Exclude<
        keyof StateTables,
        "memory" | "gate_receipt" | "progress" | "expansion" | "reviewed_plan" | "resource_change" | "action"
      >
    | "last_applied"
    | "writer"]: TableDefinition;
} = {
  server: { columns: { server: "text", facts: "text" }, key: ["server"] },
  receipt: {
    columns: {
      server: "text",
      identity: "text",
      kind: "text",
      external_id: "text?",
      version: "integer?",
      at: "integer",
      sealed: "bytes",
      mark: "text",
      tally: "text?",
    },
    key: ["server", "identity"],
  },
  intent: {
    columns: {
      id: "text",
      server: "text",
      identity: "text",
      kind: "text",
      operation: "text",
      version_before: "integer?",
      creates: "integer",
      deadline: "integer",
      sealed: "bytes",
      reply: "bytes?",
      key: "bytes?",
      left_alone: "bytes?",
      at: "integer?",
    },
    key: ["id"],
  },
  hold: { columns: { nth: "serial", hold: "text" }, key: ["nth"] },
  released: { columns: { nth: "serial", commit: "text" }, key: ["nth"] },
  pass: { columns: { nth: "serial", ended_at: "text", record: "text" }, key: ["nth"], indexes: [["ended_at"]] },
  resource_event: {
    columns: { nth: "serial", identity: "text", day: "text", has_drifted: "integer", event: "text" },
    key: ["nth"],
    indexes: [
      ["identity", "nth"],
      ["has_drifted", "day", "identity"],
      ["has_drifted", "nth"],
      ["day", "nth"],
    ],
  },
  unsettled: { columns: { identity: "text", state: "text", event: "text" }, key: ["identity"] },
  status: { columns: { one: "integer", status: "text" }, key: ["one"] },
  last_applied: { columns: { one: "integer", commit: "text" }, key: ["one"] },
  holder: { columns: { one: "integer", id: "text" }, key: ["one"] },
  writer: { columns: { one: "integer", number: "integer", by: "text?" }, key: ["one"] },
};

/**
 * The migrations of a target's state in PostgreSQL: the first one has what those of a folder have made up to its number.
 */
export function postgresStateMigrations(target: string | null): Migrations {
  return {
    "008-state": {
      up: async (database) => {
        for (const [name, table] of Object.entries(tables)) await createTable(database, name, table);
      },
    },
    ...sharedMigrations,
    // Apart from the number, which every write reads, so that no renewal is in its way.
    "013-writer-lease": {
      up: (database) =>
        createTable(database, "writer_lease", {
          columns: { one: "integer", number: "integer", until: "integer" },
          key: ["one"],
        }),
    },
    // The name of a schema does not tell that of its target.
    "014-target-name": {
      up: async (database) => {
        await createTable(database, "target", { columns: { one: "integer", name: "text?" }, key: ["one"] });
        await sql`INSERT INTO target (one, name) VALUES (1, ${target})`.execute(database);
      },
    },
    "015-cache": { up: createCacheTable },
    // Holds are not sealed, so another key would not be noticed by them.
    "016-key-check": {
      up: (database) =>
        createTable(database, "key_check", { columns: { one: "integer", sealed: "bytes" }, key: ["one"] }),
    },
  };
}
