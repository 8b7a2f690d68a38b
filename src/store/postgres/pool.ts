import { Pool, types } from "pg";
import type { Secret } from "../../contract/secret.ts";
import { connectionString } from "./address.ts";

const CONNECT_MS = 10_000;
const STATEMENT_MS = 10_000;
// The server ends a slow statement first; this is for a server that does not answer.
const ANSWER_MS = 15_000;
const IDLE_TRANSACTION_MS = 30_000;
const BIGINT = types.builtins.INT8;

/** Options of a pool. */
export type PoolOptions = {
  readonly connections: number;
  /** No time limits, for migrations. @default false */
  readonly isUnlimited?: boolean;
};

/** A pool of connections to PostgreSQL, opened when they are needed. */
export function openPool(address: Secret, { connections, isUnlimited = false }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: connectionString(address),
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "holdfast",
    // Counts, versions and epoch milliseconds are far below 2^53.
    types: { getTypeParser: (type, format) => (type === BIGINT ? Number : types.getTypeParser(type, format)) },
    ...(isUnlimited
      ? {}
      : {
          statement_timeout: STATEMENT_MS,
          query_timeout: ANSWER_MS,
          idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
        }),
  });
  // An idle connection that breaks is replaced at the next use.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
