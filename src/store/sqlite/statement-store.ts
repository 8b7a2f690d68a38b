import type { Kysely, Transaction } from "kysely";
import type { Migrations } from "../migrate.ts";
import type { Statement } from "../prepared-query.ts";
import { StoreError, storageErrorAt, storeErrorCode } from "../store-error.ts";
import { type OpenOptions, openSqliteStore } from "./open.ts";
import { runStatement } from "./query-builder.ts";

/** A database that only this process writes, mostly by statements that do not depend on earlier reads. */
export type StatementStore<Tables> = AsyncDisposable & {
  /** Reads committed data, without waiting for writers. */
  readonly read: Kysely<Tables>;
  /** Resolves when all the statements are durable; when it rejects, none of them is applied. */
  write(statements: readonly Statement[]): Promise<void>;
  /** Runs a change that reads first, in a transaction that is rolled back when it throws. */
  change<Result>(change: (transaction: Transaction<Tables>) => Promise<Result>): Promise<Result>;
  /** Waits for pending writes and closes the database. */
  close(): Promise<void>;
};

/** Opens a SQLite file that is written by statements, and migrates its schema. */
export async function openStatementStore<Tables>(
  path: string,
  migrations: Migrations,
  options: OpenOptions,
): Promise<StatementStore<Tables>> {
  const { read, write, close } = await openSqliteStore<Tables>(path, migrations, options);
  const change: StatementStore<Tables>["change"] = (work) =>
    write(work).catch((error: unknown) => {
      throw writeError(path, error);
    });
  return {
    read,
    write: (statements) =>
      change(async (transaction) => {
        for (const statement of statements) runStatement(transaction.getExecutor(), statement);
      }),
    change,
    close,
    [Symbol.asyncDispose]: close,
  };
}

// An error of SQLite names neither the file nor, on a full disk, the cause.
function writeError(path: string, error: unknown): unknown {
  const code = storeErrorCode(error);
  if (code === null || error instanceof StoreError) return error;
  return new StoreError(code, storageErrorAt(path, error), { cause: error });
}
