import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { openConnection } from "./open-connection.ts";
import { type PackedChanges, unpackChanges } from "./packed-changes.ts";
import type { Statement } from "./statement.ts";

/** What a commit thread is asked for: changes that share one commit, each of them whole or not at all; or its end. */
export type CommitRequest = PackedChanges | "end";

/** Why a change is not there, in a form that crosses threads; null once it is durable. */
export type CommitResult = { readonly message: string; readonly code: unknown; readonly errcode: unknown } | null;

/** The connection of this thread, with the statements that it has run before. */
type Connection = { readonly database: DatabaseSync; readonly run: (statement: Statement) => void };

const bare = (sql: string): Statement => ({ sql, values: [] });
const BEGIN = bare("BEGIN IMMEDIATE");
const COMMIT = bare("COMMIT");
const SAVEPOINT = bare("SAVEPOINT change");
const ROLLBACK_TO = bare("ROLLBACK TO change");
const RELEASE = bare("RELEASE change");

let connection: Connection | null = null;

parentPort?.on("message", (order: CommitRequest) => {
  if (order !== "end") {
    parentPort?.postMessage(commit(unpackChanges(order)));
    // The collector counts what little holds the bytes, and would leave them lying for long.
    order.bytes.buffer.transfer(0);
    return;
  }
  connection?.database.close();
  parentPort?.close();
});

function commit(changes: readonly (readonly Statement[])[]): readonly CommitResult[] {
  try {
    connection ??= connected(String(workerData));
    return together(connection, changes);
  } catch (error) {
    if (connection?.database.isTransaction) connection.database.exec("ROLLBACK");
    return changes.map(() => verdictOn(error));
  }
}

function together({ run }: Connection, changes: readonly (readonly Statement[])[]): readonly CommitResult[] {
  run(BEGIN);
  const verdicts = changes.map((change) => apart(change, run));
  run(COMMIT);
  return verdicts;
}

// A broken change is taken back, and those beside it go on.
function apart(change: readonly Statement[], run: Connection["run"]): CommitResult {
  run(SAVEPOINT);
  const verdict = tried(change, run);
  if (verdict !== null) run(ROLLBACK_TO);
  run(RELEASE);
  return verdict;
}

function tried(change: readonly Statement[], run: Connection["run"]): CommitResult {
  try {
    for (const statement of change) run(statement);
    return null;
  } catch (error) {
    return verdictOn(error);
  }
}

function connected(path: string): Connection {
  const database = openConnection(path);
  const known = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const made = database.prepare(sql);
    known.set(sql, made);
    return made;
  };
  const run = ({ sql, values }: Statement) => {
    (known.get(sql) ?? prepare(sql)).run(...(values as readonly SQLInputValue[]));
  };
  return { database, run };
}

function verdictOn(error: unknown): NonNullable<CommitResult> {
  const {
    message,
    code = null,
    errcode = null,
  } = error as Error & { readonly code?: unknown; readonly errcode?: unknown };
  return { message, code, errcode };
}
