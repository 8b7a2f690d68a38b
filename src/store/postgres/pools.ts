import { escapeIdentifier, Pool, type PoolClient, types } from "pg";
import type { Secret } from "../../contract/secret.ts";
import { connectionString } from "./address.ts";

/** A database, and the PostgreSQL schema that names mean; that of the user where none is given. */
export type SchemaPlace = { readonly address: Secret; readonly namespace: string | undefined };

/** How connections are opened. */
export type PoolOptions = {
  /** The most connections. */
  readonly connections: number;
  /** How long a transaction may wait for its next statement, in milliseconds; null for no time limits at all, as for migrations. */
  readonly idleTransactionMs: number | null;
};

/** SchemaConnections to one schema of a database, opened when they are needed. */
export type SchemaConnections = {
  readonly connect: () => Promise<PoolClient>;
  /** Closes them, or gives them up where others share them. */
  readonly end: () => Promise<void>;
  readonly counts: () => Pick<Pool, "totalCount" | "idleCount" | "waitingCount">;
};

const CONNECT_MS = 10_000;
const STATEMENT_MS = 10_000;
// The server ends a slow statement first; this is for a server that does not answer.
const ANSWER_MS = 15_000;
const BIGINT = types.builtins.INT8;

/** Opens a pool of connections. */
export function ownConnections({ address, namespace }: SchemaPlace, options: PoolOptions): SchemaConnections {
  const pool = openPool(connectionString(address, namespace), options);
  return { connect: () => pool.connect(), end: () => pool.end(), counts: () => pool };
}

type SharedPool = { readonly pool: Pool; users: number };

const shared = new WeakMap<Secret, Map<string, SharedPool>>();

/**
 * The connections that all share who give the same address: a process may have a thousand targets, and a database takes a
 * hundred connections.
 */
export function sharedConnections(
  { address, namespace }: SchemaPlace,
  use: string,
  options: PoolOptions,
): SchemaConnections {
  const pools = shared.get(address) ?? new Map<string, SharedPool>();
  shared.set(address, pools);
  const one = pools.get(use) ?? { pool: openPool(connectionString(address), options), users: 0 };
  pools.set(use, one);
  one.users += 1;
  return {
    connect: async () => inSchema(await one.pool.connect(), namespace),
    end: async () => {
      one.users -= 1;
      if (one.users > 0) return;
      pools.delete(use);
      await one.pool.end();
    },
    counts: () => one.pool,
  };
}

const schemas = new WeakMap<PoolClient, string>();

async function inSchema(client: PoolClient, namespace: string | undefined): Promise<PoolClient> {
  const schema = namespace === undefined ? "DEFAULT" : escapeIdentifier(namespace);
  if (schemas.get(client) === schema) return client;
  try {
    await client.query(`SET search_path TO ${schema}`);
  } catch (error) {
    client.release(true);
    throw error;
  }
  schemas.set(client, schema);
  return client;
}

function openPool(address: string, { connections, idleTransactionMs }: PoolOptions): Pool {
  const pool = new Pool({
    connectionString: address,
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "holdfast",
    // Counts, versions and epoch milliseconds are far below 2^53.
    types: { getTypeParser: (type, format) => (type === BIGINT ? Number : types.getTypeParser(type, format)) },
    ...(idleTransactionMs === null
      ? {}
      : {
          statement_timeout: STATEMENT_MS,
          query_timeout: ANSWER_MS,
          idle_in_transaction_session_timeout: idleTransactionMs,
        }),
  });
  // An idle connection that breaks is replaced at the next use.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}
