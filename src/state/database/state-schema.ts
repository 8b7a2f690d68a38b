import { type Generated, type Insertable, type Kysely, sql } from "kysely";
import type { Hold } from "../../core/holds.ts";
import type { PassRecord, TargetStatus } from "../../core/report/target-status.ts";
import { createTable } from "../../store/create-table.ts";
import type { Migrations } from "../../store/migrate.ts";
import { type EarlierFiles, readEarlierFiles } from "../sqlite/earlier-files.ts";

/** The tables of a state folder: the ledgers of its servers, and what is remembered of its target. */
export type StateTables = {
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
  /** The holds as JSON, in their order. */
  hold: { nth: Generated<number>; hold: string };
  /** The released commits in their order. */
  released: { nth: Generated<number>; commit: string };
  /** The records of passes as JSON, in their order. */
  pass: { nth: Generated<number>; ended_at: string; record: string };
  /** What became of resources: each event as JSON, in their order. */
  resource_event: { nth: Generated<number>; identity: string; day: string; has_drifted: number; event: string };
  /** What the write of an event changed, as JSON; `through` counts the characters of these from the first one to this. */
  resource_change: { event: number; through: number; changed: string };
  /** The resources that are not as declared, with their last event as JSON. */
  unsettled: { identity: string; state: string; event: string };
  /** One row: the last status of the target as JSON. */
  status: { one: number; status: string };
  /** One row: what the next pass is to know, as JSON. */
  memory: { one: number; memory: string };
  /** The receipts of gates as JSON: one for each resource, content and gate. */
  gate_receipt: { identity: string; content: string; gate: string; at: string; receipt: string };
  /** One row: how far commits have come on the target, as JSON. */
  progress: { one: number; progress: string };
  /** One row, in the state that belongs to no target: what the patterns of the configuration stood for last, as JSON. */
  expansion: { one: number; expansion: string };
  /** The plans of pull requests that were sent, in the state that belongs to no target: in short and as a whole, as JSON. */
  reviewed_plan: { id: string; at: string; entry: string; plan: string };
  /** What people asked for on the dashboard, by the key of the request; `until` is null once it has ended. */
  action: { key: string; at: string; content: string; until: number | null; ended: string };
  /** One row: the id in the name under which leases are taken. */
  holder: { one: number; id: string };
};

/** The number of bytes of a sealed value that form the mark of a receipt. */
export const MARK_BYTES = 33;

/** The columns of a receipt that can be read without unsealing it. */
export const HEAD = ["identity", "kind", "external_id", "version", "at", "mark", "tally"] as const;

/** The migrations of the schema. They take over what an earlier release kept in files of the folder, if it is given. */
export function stateMigrations(folder: string | null = null): Migrations {
  return {
    ...ledgerMigrations,
    "007-target": { up: (db) => createTarget(db, readEarlierFiles(folder)) },
    "008-drift-order": { up: orderDrift },
    ...sharedMigrations,
  };
}

/** The migrations that both databases have: all since the first one in PostgreSQL. */
export const sharedMigrations: Migrations = {
  "009-pass-memory": { up: keepMemory },
  "010-gate-receipts": { up: keepGateReceipts },
  "011-progress": {
    up: (db) => createTable(db, "progress", { columns: { one: "integer", progress: "text" }, key: ["one"] }),
  },
  "012-expansion": {
    up: (db) => createTable(db, "expansion", { columns: { one: "integer", expansion: "text" }, key: ["one"] }),
  },
  // After the last one that PostgreSQL alone has.
  "017-reviewed-plans": {
    up: (db) =>
      createTable(db, "reviewed_plan", {
        columns: { id: "text", at: "text", entry: "text", plan: "text" },
        key: ["id"],
        indexes: [["at", "id"]],
      }),
  },
  "018-resource-changes": {
    up: (db) =>
      createTable(db, "resource_change", {
        columns: { event: "integer", through: "integer", changed: "text" },
        key: ["event"],
      }),
  },
  "019-actions": {
    up: (db) =>
      createTable(db, "action", {
        columns: { key: "text", at: "text", content: "text", until: "integer?", ended: "text" },
        key: ["key"],
        indexes: [["at"], ["until"]],
      }),
  },
};

async function keepGateReceipts(db: Kysely<unknown>): Promise<void> {
  await createTable(db, "gate_receipt", {
    columns: { identity: "text", content: "text", gate: "text", at: "text", receipt: "text" },
    key: ["identity", "content", "gate"],
    indexes: [["at"]],
  });
}

// The commit that was applied last had a table of its own.
async function keepMemory(
  db: Kysely<{ last_applied: { commit: string }; memory: StateTables["memory"] }>,
): Promise<void> {
  await createTable(db, "memory", { columns: { one: "integer", memory: "text" }, key: ["one"] });
  const applied = await db.selectFrom("last_applied").select("commit").executeTakeFirst();
  const memory = JSON.stringify({ appliedCommit: applied?.commit ?? null });
  if (applied !== undefined) await db.insertInto("memory").values({ one: 1, memory }).execute();
  await db.schema.dropTable("last_applied").execute();
}

// What fills these tables was in files beside the database before.
async function createTarget(db: Kysely<StateTables>, earlier: EarlierFiles): Promise<void> {
  const { schema } = db;
  await schema
    .createTable("hold")
    .addColumn("nth", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("hold", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("released")
    .addColumn("nth", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("commit", "text", (column) => column.notNull())
    .execute();
  await schema
    .createTable("pass")
    .addColumn("nth", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("ended_at", "text", (column) => column.notNull())
    .addColumn("record", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("pass_end").on("pass").column("ended_at").execute();
  await schema
    .createTable("resource_event")
    .addColumn("nth", "integer", (column) => column.primaryKey().autoIncrement())
    .addColumn("identity", "text", (column) => column.notNull())
    .addColumn("day", "text", (column) => column.notNull())
    .addColumn("has_drifted", "integer", (column) => column.notNull())
    .addColumn("event", "text", (column) => column.notNull())
    .execute();
  await schema.createIndex("event_identity").on("resource_event").columns(["identity", "nth"]).execute();
  await schema.createIndex("event_drift").on("resource_event").columns(["has_drifted", "day"]).execute();
  await schema
    .createTable("unsettled")
    .addColumn("identity", "text", (column) => column.primaryKey())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("event", "text", (column) => column.notNull())
    .execute();
  for (const [table, column] of [
    ["status", "status"],
    ["last_applied", "commit"],
    ["holder", "id"],
  ] as const) {
    await schema
      .createTable(table)
      .addColumn("one", "integer", (one) => one.primaryKey())
      .addColumn(column, "text", (value) => value.notNull())
      .execute();
  }
  for (const hold of earlier.decisions.holds) await db.insertInto("hold").values(holdRow(hold)).execute();
  for (const commit of earlier.decisions.released) await db.insertInto("released").values({ commit }).execute();
  for (const record of earlier.passes) await db.insertInto("pass").values(passRow(record)).execute();
  if (earlier.status !== null) await db.insertInto("status").values(statusRow(earlier.status)).execute();
  if (earlier.holder !== null) await db.insertInto("holder").values({ one: 1, id: earlier.holder }).execute();
}

// A page of drift is read in its order, and the days of drift from an index alone.
async function orderDrift({ schema }: Kysely<StateTables>): Promise<void> {
  await schema.dropIndex("event_drift").execute();
  const drift = (name: string) => schema.createIndex(name).on("resource_event");
  await drift("event_drift").columns(["has_drifted", "day", "identity"]).execute();
  await drift("event_drift_order").columns(["has_drifted", "nth"]).execute();
}

/** The row of a hold. */
export function holdRow(hold: Hold): Insertable<StateTables["hold"]> {
  return { hold: JSON.stringify(hold) };
}

/** The row of a pass. */
export function passRow(record: PassRecord): Insertable<StateTables["pass"]> {
  return { ended_at: record.endedAt, record: JSON.stringify(record) };
}

/** The row of the status. */
export function statusRow(status: TargetStatus): Insertable<StateTables["status"]> {
  return { one: 1, status: JSON.stringify(status) };
}

const ledgerMigrations: Migrations = {
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
