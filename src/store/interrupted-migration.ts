import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import type { Migrations, SchemaState } from "./migrate.ts";
import { adaptDatabase, queryBuilder } from "./sqlite.ts";

/**
 * The migrations as far as they are left to do where an earlier release was interrupted in the middle of one: that
 * release committed every statement by itself, so that some of the step's statements have been run and are passed over.
 * Null where no step was begun.
 */
export async function remainingMigrations(
  connection: DatabaseSync,
  migrations: Migrations,
  { applied, pending }: SchemaState,
): Promise<Migrations | null> {
  const [name = ""] = pending;
  const step = migrations[name];
  if (step === undefined) return null;
  const found = shapeOf(connection);
  // A new file.
  if (found.size === 0) return null;
  const stages = await stagesOf(migrations, applied, name);
  const known = new Set(stages.flatMap((stage) => [...stage.keys()]));
  // The first one: a statement that changed rows only is run again.
  const done = stages.findIndex((stage) => [...known].every((each) => stage.get(each) === found.get(each)));
  if (done <= 0) return null;
  return { ...migrations, [name]: { up: () => step.up(passingOver(connection, done)) } };
}

/** Tables and indexes by name, each with its columns. */
type Shape = ReadonlyMap<string, string>;

const SHAPE = `
  SELECT name, (SELECT group_concat(c.name) FROM pragma_table_info(s.name) c) AS held,
    (SELECT group_concat(c.name) FROM pragma_index_info(s.name) c) AS indexed
  FROM sqlite_schema s
  WHERE type IN ('table', 'index') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'kysely\\_%' ESCAPE '\\'`;

function shapeOf(connection: DatabaseSync): Shape {
  const rows = connection.prepare(SHAPE).all();
  return new Map(rows.map(({ name, held, indexed }) => [String(name), `${held}/${indexed}`]));
}

/** What a schema looks like before each statement of a step, and after the last one. */
async function stagesOf(migrations: Migrations, applied: readonly string[], name: string): Promise<readonly Shape[]> {
  using scratch = new DatabaseSync(":memory:");
  for (const each of applied) await migrations[each]?.up(queryBuilder(scratch));
  const stages: Shape[] = [];
  await migrations[name]?.up(
    intercepted(scratch, () => {
      stages.push(shapeOf(scratch));
      return "run";
    }),
  );
  return [...stages, shapeOf(scratch)];
}

function passingOver(connection: DatabaseSync, count: number): Kysely<unknown> {
  let nth = 0;
  return intercepted(connection, () => {
    nth += 1;
    return nth <= count ? "pass over" : "run";
  });
}

const nothing: SqliteStatement = {
  reader: false,
  all: () => [],
  run: () => ({ changes: 0, lastInsertRowid: 0 }),
  iterate: () => [][Symbol.iterator](),
};

function intercepted(connection: DatabaseSync, decide: () => "run" | "pass over"): Kysely<unknown> {
  const adapted = adaptDatabase(connection);
  const prepare = (sql: string): SqliteStatement => (decide() === "run" ? adapted.prepare(sql) : nothing);
  return new Kysely({ dialect: new SqliteDialect({ database: { ...adapted, prepare } }) });
}
