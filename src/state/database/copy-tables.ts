import { type Kysely, sql } from "kysely";
import { releaseBuffer } from "../../contract/release-buffer.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import type { Store } from "../../store/store.ts";
import { type KeyChange, requireRowSealed, rowResealer, sealedTables, type TableRow } from "./ledger-rows.ts";
import type { StateTables } from "./state-schema.ts";

// How many rows are in memory at once: all contents together may not fit.
const PART = 200;

// A copy takes leases under a name of its own, so the holder is left out.
const KEYS: { readonly [table in Exclude<keyof StateTables, "holder">]: readonly string[] } = {
  server: ["server"],
  receipt: ["server", "identity"],
  intent: ["id"],
  hold: ["nth"],
  released: ["nth"],
  pass: ["nth"],
  resource_event: ["nth"],
  resource_change: ["event"],
  unsettled: ["identity"],
  status: ["one"],
  memory: ["one"],
  gate_receipt: ["identity", "content", "gate"],
  progress: ["one"],
  expansion: ["one"],
  reviewed_plan: ["id"],
  action: ["key"],
};

/** The tables whose rows have numbers in their order. */
export const numberedTables = Object.entries(KEYS).flatMap(([table, [first]]) => (first === "nth" ? [table] : []));

/** Copies all rows of a state to a database whose tables are empty, sealed with another key. */
export async function copyTables(
  from: Kysely<StateTables>,
  to: Store<StateTables>,
  keys: KeyChange<SealKey>,
): Promise<void> {
  for (const [table, key] of Object.entries(KEYS)) {
    const resealed = rowResealer(table, keys);
    for await (const rows of pages(from, table, key)) {
      const copies = rows.map((row) => ({ ...row, ...resealed(row) }));
      await to.write((transaction) => insert(transaction, table, copies));
      copies.forEach(releaseValues);
    }
  }
}

/** Seals all rows of a state with another key, in place. */
export async function resealTables(database: Kysely<StateTables>, keys: KeyChange<SealKey>): Promise<void> {
  for (const [table, key] of Object.entries(KEYS).filter(([name]) => sealedTables.includes(name))) {
    const resealed = rowResealer(table, keys);
    for await (const rows of pages(database, table, key)) {
      for (const row of rows) {
        const changed = resealed(row);
        const values = Object.entries(changed).map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
        const isRow = key.map((column) => sql`${sql.ref(column)} = ${row[column]}`);
        await sql`UPDATE ${sql.table(table)} SET ${sql.join(values)} WHERE ${sql.join(isRow, sql` AND `)}`.execute(
          database,
        );
        releaseValues(changed);
      }
    }
  }
}

/** Unseals every sealed value of a state; fails where one was changed or sealed with another key. */
export async function requireTablesSealed(database: Kysely<StateTables>, key: SealKey): Promise<void> {
  for (const [table, columns] of Object.entries(KEYS).filter(([name]) => sealedTables.includes(name))) {
    for await (const rows of pages(database, table, columns)) {
      for (const row of rows) {
        requireRowSealed(table, row, key);
        releaseValues(row);
      }
    }
  }
}

async function* pages(
  database: Kysely<StateTables>,
  table: string,
  key: readonly string[],
): AsyncGenerator<readonly TableRow[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let isAfter = sql`1 = 1`;
  for (;;) {
    const query = sql<TableRow>`SELECT * FROM ${sql.table(table)} WHERE ${isAfter} ORDER BY ${columns} LIMIT ${PART}`;
    const { rows } = await query.execute(database);
    const last = rows.at(-1);
    if (last === undefined) return;
    isAfter = sql`(${columns}) > (${sql.join(key.map((column) => last[column]))})`;
    yield rows;
  }
}

async function insert(database: Kysely<StateTables>, table: string, rows: readonly TableRow[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`INSERT INTO ${sql.table(table)} (${names}) VALUES ${sql.join(values)}`.execute(database);
}

function releaseValues(row: TableRow): void {
  for (const value of Object.values(row)) if (value instanceof Uint8Array) releaseBuffer(value);
}
