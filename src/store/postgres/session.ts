import PQueue from "p-queue";
import { Client } from "pg";
import type { Clock } from "../../clock/clock.ts";
import type { Secret } from "../../contract/secret.ts";
import { StoreError } from "../store-error.ts";
import { connectionString } from "./address.ts";
import { toStoreError } from "./connection.ts";
import { databaseError } from "./open.ts";
import { unlessStopped } from "./unless-stopped.ts";

const ANSWER_MS = 10_000;
const CLOSE_MS = 1000;

/** How long a process that is suspended holds rows that others wait for, in milliseconds: less than any lease lasts. */
export const IDLE_TRANSACTION_MS = 5000;

// The server notices within 15 seconds that the machine of a session is gone.
const SETTINGS = `SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2;
  SET idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_MS}`;

/** One connection to a database, outside of any pool; its session locks end with it. */
export type DatabaseSession = AsyncDisposable & {
  /** Runs a query with parameters, or several queries without them; returns the rows of the last one. */
  readonly query: <Row>(text: string, values?: readonly unknown[]) => Promise<readonly Row[]>;
};

/** How a session is opened. */
type SessionOptions = {
  readonly clock: Clock;
  /** The schema that names mean those of. @default the schema of the user */
  readonly namespace?: string | null;
  /** How long a connection or an answer is waited for, in milliseconds. @default 10_000 */
  readonly answerMs?: number;
  /** Ends the wait for an answer. */
  readonly signal?: AbortSignal | undefined;
};

/** Opens a session. */
export async function openDatabaseSession(
  address: Secret,
  { clock, namespace = null, answerMs = ANSWER_MS, signal }: SessionOptions,
): Promise<DatabaseSession> {
  const client = new Client({
    connectionString: connectionString(address, namespace),
    connectionTimeoutMillis: answerMs,
    query_timeout: answerMs,
    keepAlive: true,
    application_name: "holdfast",
  });
  // A connection that breaks is noticed at its next use.
  client.on("error", () => undefined);
  const translated = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const asked = work().catch((error: unknown) => {
      throw databaseError(address, toStoreError(error));
    });
    return unlessStopped(asked, { address, signal, clock });
  };
  // A server that is cut off would never answer.
  const close = (): Promise<void> => Promise.race([client.end(), clock.sleep(CLOSE_MS, { ref: false })]);
  try {
    await translated(async () => {
      await client.connect();
      await client.query(SETTINGS);
    });
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
  return {
    query: (text, values) => translated(async () => (await client.query(text, values && [...values])).rows),
    [Symbol.asyncDispose]: close,
  };
}

const brief = new WeakMap<Secret, PQueue>();

/** Runs some queries in a session of their own: at most four at once with the same address, since a process may have a thousand targets. */
export async function inBriefSession<Result>(
  address: Secret,
  options: SessionOptions,
  work: (session: DatabaseSession) => Promise<Result>,
): Promise<Result> {
  const queue = brief.get(address) ?? new PQueue({ concurrency: 4 });
  brief.set(address, queue);
  return queue.add(async () => {
    await using session = await openDatabaseSession(address, options);
    return await work(session);
  });
}

/** Runs the work of a session in a transaction, which is rolled back when it throws. */
export async function inTransaction<Result>(session: DatabaseSession, work: () => Promise<Result>): Promise<Result> {
  await session.query("BEGIN");
  try {
    const result = await work();
    await session.query("COMMIT");
    return result;
  } catch (error) {
    // A connection that is gone has rolled back.
    await session.query("ROLLBACK").catch(unlessGone);
    throw error;
  }
}

/** Swallows the error of a session that ends anyway. */
export function unlessGone(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

// The class of these locks, whatever else takes advisory locks in the database.
const CLASS = 7_031_966;

/** Takes a lock that ends with the connection, for work of this process alone; null while another process has it. */
export async function takeDatabaseLock(address: Secret, name: string, clock: Clock): Promise<AsyncDisposable | null> {
  const session = await openDatabaseSession(address, { clock });
  const [row] = await session.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_lock(${CLASS}, hashtext($1)) AS taken`,
    [name],
  );
  if (row?.taken === true) return session;
  await session[Symbol.asyncDispose]();
  return null;
}

/** Whether a database has a schema of that name. */
export async function hasSchema(address: Secret, name: string, clock: Clock): Promise<boolean> {
  const query = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
  return inBriefSession(address, { clock }, async (session) => (await session.query(query, [name])).length > 0);
}
