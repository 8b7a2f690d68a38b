import { Pool, types } from "pg";
import type { Secret } from "../../contract/secret.ts";
import { connectionString } from "./address.ts";

const CONNECT_MS = 10_000;
const STATEMENT_MS = 10_000;
// The server ends a slow statement first; this is for one whose server has gone.
const ANSWER_MS = 15_000;
const IDLE_TRANSACTION_MS = 30_000;
const BIGINT = types.builtins.INT8;

/** How a pool differs from others. */
export type PoolOptions = {
  readonly connections: number;
  /** Statements that may take as long as they need, such as those of a migration. @default false */
  readonly patient?: boolean;
};

/** Connections to a PostgreSQL, opened when they are needed. */
export function openPool(address: Secret, { connections, patient = false }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: connectionString(address),
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "holdfast",
    // Counts, versions and epoch milliseconds are far below the numbers that lose digits.
    types: { getTypeParser: (type, format) => (type === BIGINT ? Number : types.getTypeParser(type, format)) },
    ...(patient
      ? {}
      : {
          statement_timeout: STATEMENT_MS,
          query_timeout: ANSWER_MS,
          idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
        }),
  });
  // A connection that breaks while nobody asks it anything is replaced when the next one asks.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
