import { DatabaseSync } from "node:sqlite";
import { type Kysely, sql, type Transaction } from "kysely";
import { type Migrations, migrate } from "../../src/store/migrate.ts";
import { queryBuilder } from "../../src/store/sqlite/query-builder.ts";
import { rollBackTo, type Store } from "../../src/store/store.ts";
import type { Process } from "./process.ts";

/** A database in memory: what processes have committed to it outlives them. */
export type MemoryDatabase<Tables> = {
  readonly builder: Kysely<Tables>;
  readonly connection: DatabaseSync;
};

const schemas = new Map<Migrations, Promise<readonly string[]>>();

/** Creates a database with a schema, which is made once in a process and copied. */
export async function memoryDatabase<Tables>(migrations: Migrations): Promise<MemoryDatabase<Tables>> {
  const made = schemas.get(migrations) ?? statementsOf(migrations);
  schemas.set(migrations, made);
  const connection = new DatabaseSync(":memory:", { enableForeignKeyConstraints: true });
  for (const statement of await made) connection.exec(statement);
  return { builder: queryBuilder<Tables>(connection), connection };
}

async function statementsOf(migrations: Migrations): Promise<readonly string[]> {
  using connection = new DatabaseSync(":memory:", { enableForeignKeyConstraints: true });
  await migrate(queryBuilder(connection), migrations);
  const made = connection
    .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    .all();
  const tables = made.filter(({ type, name }) => type === "table" && !String(name).startsWith("sqlite_"));
  const others = made.filter(({ type }) => type !== "table");
  const rows = tables.flatMap(({ name }) =>
    connection
      .prepare(`SELECT * FROM "${String(name)}"`)
      .all()
      .map((row) => `INSERT INTO "${String(name)}" VALUES (${Object.values(row).map(literal).join(", ")})`),
  );
  return [...tables.map((one) => String(one.sql)), ...rows, ...others.map((one) => String(one.sql))];
}

function literal(value: unknown): string {
  if (value === null) return "NULL";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString("hex")}'`;
  return `'${String(value).replaceAll("'", "''")}'`;
}

/**
 * The store of one process on a database in memory. Changes that wait together share one commit, as in the stores of the
 * product; a commit is whole or not there, whenever the process is killed.
 */
export function memoryStore<Tables>({ builder }: MemoryDatabase<Tables>, process: Process): Store<Tables> {
  let commits = 0;
  let waiting: Waiting<Tables>[] = [];
  let commit: Promise<void> | null = null;
  const take = (): readonly Waiting<Tables>[] => {
    const batch = waiting;
    waiting = [];
    commit = null;
    return batch;
  };
  const commitAll = async (): Promise<readonly (() => void)[]> => {
    const batch = take();
    const ends = await builder.transaction().execute(async (transaction) => {
      const all: (() => void)[] = [];
      for (const { run } of batch) all.push(await run(transaction));
      return all;
    });
    commits += 1;
    return ends;
  };
  const close = async (): Promise<void> => {
    await commit;
  };
  return {
    read: builder,
    write: (change) => {
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof change>>>();
      const run = async (transaction: Transaction<Tables>): Promise<() => void> => {
        await sql`SAVEPOINT change`.execute(transaction);
        try {
          const result = await change(transaction);
          return () => resolve(result);
        } catch (error) {
          await rollBackTo(transaction, "change", error);
          return () => reject(error);
        } finally {
          await sql`RELEASE change`.execute(transaction);
        }
      };
      waiting.push({ run, fail: reject });
      commit ??= process.durably(commitAll).then(
        (ends) => {
          for (const end of ends) end();
        },
        (error: unknown) => {
          for (const { fail } of take()) fail(error);
        },
      );
      return promise;
    },
    time: async () => process.clock.now(),
    commits: () => commits,
    isShared: false,
    unwritable: async () => null,
    connections: () => [],
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Waiting<Tables> = {
  /** Runs a change in the transaction; returns what tells its result. */
  readonly run: (transaction: Transaction<Tables>) => Promise<() => void>;
  readonly fail: (error: unknown) => void;
};
