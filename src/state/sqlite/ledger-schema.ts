import { sql } from "kysely";
import type { Migrations } from "../../store/migrate.ts";

/** The tables of a ledger. */
export type LedgerTables = {
  server: { server: string; facts: string };
  receipt: {
    server: string;
    identity: string;
    kind: string;
    external_id: string | null;
    version: number | null;
    at: number;
    /** Sealed JSON of what was written and what the server returned. */
    sealed: Uint8Array;
    /** Identifies this receipt: the first bytes of the sealed value, including its nonce, as hex. */
    mark: string;
    /** The digest of the content; null in a row of an earlier release. */
    tally: string | null;
  };
  intent: {
    id: string;
    server: string;
    identity: string;
    kind: string;
    operation: string;
    version_before: number | null;
    creates: number;
    deadline: number;
    /** Sealed JSON of the manifest that is sent. */
    sealed: Uint8Array;
    /** Sealed bytes of a reply that may carry a one-time token. */
    reply: Uint8Array | null;
    /** The sealed Idempotency-Key. */
    key: Uint8Array | null;
    /** Sealed JSON of the paths where the manifest has the live value; null if there are none. */
    left_alone: Uint8Array | null;
    at: number | null;
  };
};

/** The number of bytes of a sealed value that form the mark of a receipt. */
export const MARK_BYTES = 33;

/** The columns of a receipt that can be read without unsealing it. */
export const HEAD = ["identity", "kind", "external_id", "version", "at", "mark", "tally"] as const;

/** The migrations of the ledger's schema. */
export const ledgerMigrations: Migrations = {
  "001-ledger": {
    up: async (db) => {
      await db.schema
        .createTable("server")
        .addColumn("server", "text", (column) => column.primaryKey())
        .addColumn("facts", "text", (column) => column.notNull())
        .execute();
      await db.schema
        .createTable("receipt")
        .addColumn("server", "text", (column) => column.notNull())
        .addColumn("identity", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("external_id", "text")
        .addColumn("version", "integer")
        .addColumn("at", "integer", (column) => column.notNull())
        .addColumn("sealed", "blob", (column) => column.notNull())
        .addPrimaryKeyConstraint("receipt_key", ["server", "identity"])
        .execute();
      await db.schema
        .createTable("intent")
        .addColumn("id", "text", (column) => column.primaryKey())
        .addColumn("server", "text", (column) => column.notNull())
        .addColumn("identity", "text", (column) => column.notNull())
        .addColumn("kind", "text", (column) => column.notNull())
        .addColumn("operation", "text", (column) => column.notNull())
        .addColumn("version_before", "integer")
        .addColumn("creates", "integer", (column) => column.notNull())
        .addColumn("deadline", "integer", (column) => column.notNull())
        .addColumn("sealed", "blob", (column) => column.notNull())
        .addColumn("reply", "blob")
        .execute();
    },
  },
  "002-intent-key": {
    up: async (db) => {
      await db.schema.alterTable("intent").addColumn("key", "blob").execute();
    },
  },
  "003-receipt-mark": {
    up: async (db) => {
      await db.schema
        .alterTable("receipt")
        .addColumn("mark", "text", (column) => column.notNull().defaultTo(""))
        .execute();
      await sql`UPDATE receipt SET mark = lower(hex(substr(sealed, 1, ${sql.lit(MARK_BYTES)})))`.execute(db);
      // A covering index, so that reading the heads does not read the sealed values.
      await db.schema
        .createIndex("receipt_head")
        .on("receipt")
        .columns(["server", "identity", "kind", "external_id", "version", "at", "mark"])
        .execute();
    },
  },
  "004-receipt-tally": {
    up: async (db) => {
      await db.schema.alterTable("receipt").addColumn("tally", "text").execute();
      await db.schema.dropIndex("receipt_head").execute();
      await db.schema
        .createIndex("receipt_head")
        .on("receipt")
        .columns(["server", ...HEAD])
        .execute();
    },
  },
  "005-intent-left-alone": {
    up: async (db) => {
      await db.schema.alterTable("intent").addColumn("left_alone", "blob").execute();
    },
  },
  "006-intent-at": {
    up: async (db) => {
      await db.schema.alterTable("intent").addColumn("at", "integer").execute();
    },
  },
};
