import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";

const tables = [
  "applications",
  "artifact_versions",
  "deployments",
  "job_runs",
  "personal_tokens",
  "virtual_accounts",
  "workspaces",
] as const;

// The content of these belongs to users, or is not described: a null there stays.
const free: readonly string[] = ["manifest", "metadata", "debugInfo", "recommendationData"];

const BATCH = 500;

/** Removes the members of stored resources that are null: a reply leaves out what has no value. */
export const absentMembers: Migration = {
  up: async (database: Kysely<unknown>) => {
    for (const table of tables) await rewrite(database, table);
  },
};

async function rewrite(database: Kysely<unknown>, table: string): Promise<void> {
  let last = "";
  for (;;) {
    const { rows } = await sql<{ readonly id: string; readonly json: string }>`SELECT id, json FROM ${sql.table(table)}
      WHERE id > ${last} AND json LIKE '%null%' ORDER BY id LIMIT ${BATCH}`.execute(database);
    for (const { id, json } of rows) {
      const changed = JSON.stringify(withoutNull(JSON.parse(json)));
      if (changed !== json)
        await sql`UPDATE ${sql.table(table)} SET json = ${changed} WHERE id = ${id}`.execute(database);
    }
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end.id;
  }
}

function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      if (free.includes(name)) return [[name, member]];
      return member === null ? [] : [[name, withoutNull(member)]];
    }),
  );
}
