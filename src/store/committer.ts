import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { openSqliteConnection } from "./open-connection.ts";
import { type PackedChanges, unpackChanges } from "./packed-changes.ts";
import type { Statement } from "./statement.ts";

/** A request to the commit thread: changes that share one commit, each of them atomic; or to end. */
export type CommitRequest = PackedChanges | "end";

/** The error of a change in a form that can be sent between threads; null when the change is durable. */
export type CommitResult = { readonly message: string; readonly code: unknown; readonly errcode: unknown } | null;

/** The connection of this thread, with its prepared statements. */
type Connection = { readonly database: DatabaseSync; readonly run: (statement: Statement) => void };

const bare = (sql: string): Statement => ({ sql, values: [] });
const BEGIN = bare("BEGIN IMMEDIATE");
const COMMIT = bare("COMMIT");
const SAVEPOINT = bare("SAVEPOINT change");
const ROLLBACK_TO = bare("ROLLBACK TO change");
const RELEASE = bare("RELEASE change");

let connection: Connection | null = null;

parentPort?.on("message", (request: CommitRequest) => {
  if (request !== "end") {
    parentPort?.postMessage(commit(unpackChanges(request)));
    // Freed at once: the garbage collector does not count external memory and would run late.
    request.bytes.buffer.transfer(0);
    return;
  }
  connection?.database.close();
  parentPort?.close();
});

function commit(changes: readonly (readonly Statement[])[]): readonly CommitResult[] {
  try {
    connection ??= connect(String(workerData));
    return commitTogether(connection, changes);
  } catch (error) {
    if (connection?.database.isTransaction) connection.database.exec("ROLLBACK");
    return changes.map(() => toResult(error));
  }
}

function commitTogether({ run }: Connection, changes: readonly (readonly Statement[])[]): readonly CommitResult[] {
  run(BEGIN);
  const results = changes.map((change) => runIsolated(change, run));
  run(COMMIT);
  return results;
}

// A failed change is rolled back; the others of the commit are not affected.
function runIsolated(change: readonly Statement[], run: Connection["run"]): CommitResult {
  run(SAVEPOINT);
  const result = runAll(change, run);
  if (result !== null) run(ROLLBACK_TO);
  run(RELEASE);
  return result;
}

function runAll(change: readonly Statement[], run: Connection["run"]): CommitResult {
  try {
    for (const statement of change) run(statement);
    return null;
  } catch (error) {
    return toResult(error);
  }
}

function connect(path: string): Connection {
  const database = openSqliteConnection(path);
  const prepared = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  };
  const run = ({ sql, values }: Statement) => {
    (prepared.get(sql) ?? prepare(sql)).run(...(values as readonly SQLInputValue[]));
  };
  return { database, run };
}

function toResult(error: unknown): NonNullable<CommitResult> {
  const {
    message,
    code = null,
    errcode = null,
  } = error as Error & { readonly code?: unknown; readonly errcode?: unknown };
  return { message, code, errcode };
}
