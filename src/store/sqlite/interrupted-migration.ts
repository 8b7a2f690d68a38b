import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import type { Migrations, SchemaState } from "../migrate.ts";
import { adaptDatabase, queryBuilder } from "./query-builder.ts";

/**
 * The migrations that remain when an earlier release was interrupted in the middle of one. That release committed each
 * statement separately, so the statements of the migration that have run are skipped. Null when none has run.
 */
export async function remainingMigrations(
  connection: DatabaseSync,
  migrations: Migrations,
  { applied, pending }: SchemaState,
): Promise<Migrations | null> {
  const [name = ""] = pending;
  const step = migrations[name];
  if (step === undefined) return null;
  const found = structureOf(connection);
  // A new file.
  if (found.size === 0) return null;
  const stages = await stagesOf(migrations, applied, name);
  const known = new Set(stages.flatMap((stage) => [...stage.keys()]));
  // The first match: a statement that changed only rows is run again.
  const done = stages.findIndex((stage) => [...known].every((each) => stage.get(each) === found.get(each)));
  if (done <= 0) return null;
  return { ...migrations, [name]: { up: () => step.up(skipping(connection, done)) } };
}

const STRUCTURE = `
  SELECT name, (SELECT group_concat(c.name) FROM pragma_table_info(s.name) c) AS held,
    (SELECT group_concat(c.name) FROM pragma_index_info(s.name) c) AS indexed
  FROM sqlite_schema s
  WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'kysely\\_%' ESCAPE '\\'`;

function structureOf(connection: DatabaseSync): ReadonlyMap<string, string> {
  const rows = connection.prepare(STRUCTURE).all();
  return new Map(rows.map(({ name, held, indexed }) => [String(name), `${held}/${indexed}`]));
}

/** The structure of a schema before each statement of a step, and after the last one. */
async function stagesOf(
  migrations: Migrations,
  applied: readonly string[],
  name: string,
): Promise<readonly ReadonlyMap<string, string>[]> {
  using scratch = new DatabaseSync(":memory:");
  for (const each of applied) await migrations[each]?.up(queryBuilder(scratch));
  const stages: ReadonlyMap<string, string>[] = [];
  await migrations[name]?.up(
    intercepted(scratch, () => {
      stages.push(structureOf(scratch));
      return "run";
    }),
  );
  return [...stages, structureOf(scratch)];
}

function skipping(connection: DatabaseSync, count: number): Kysely<unknown> {
  let nth = 0;
  return intercepted(connection, () => {
    nth += 1;
    return nth <= count ? "skip" : "run";
  });
}

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

function intercepted(connection: DatabaseSync, decide: () => "run" | "skip"): Kysely<unknown> {
  const adapted = adaptDatabase(connection);
  const prepare = (sql: string): SqliteStatement => (decide() === "run" ? adapted.prepare(sql) : nothing);
  return new Kysely({ dialect: new SqliteDialect({ database: { ...adapted, prepare } }) });
}
