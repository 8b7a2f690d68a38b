import { Client } from "pg";
import type { Secret } from "../../contract/secret.ts";
import { connectionString } from "./address.ts";
import { toStoreError } from "./connection.ts";
import { databaseError } from "./open.ts";

// The class of our locks, whatever else takes advisory locks in the database.
const CLASS = 7_031_965;
const CONNECT_MS = 10_000;

// The server notices within 15 seconds that the machine of the holder is gone.
const SETTINGS = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 2";

const HELD = `
  SELECT count(*)::int AS held FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid = ${CLASS} AND objsubid = 2
    AND objid = (hashtext($1)::bigint & 4294967295)::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * Takes a lock of a database until it is disposed; null when another process holds it. The server releases it when the
 * connection ends in any way, so a holder whose connection broke may have lost it.
 */
export async function holdDatabaseLock(address: Secret, name: string): Promise<AsyncDisposable | null> {
  const client = await connect(address);
  try {
    await client.query(SETTINGS);
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${CLASS}, hashtext($1)) AS taken`, [name]);
    if (rows[0]?.taken === true) return { [Symbol.asyncDispose]: () => client.end() };
    await client.end();
    return null;
  } catch (error) {
    await client.end();
    throw databaseError(address, toStoreError(error));
  }
}

/** Whether a lock of a database is held at this moment. */
export async function isDatabaseLockHeld(address: Secret, name: string): Promise<boolean> {
  const client = await connect(address);
  try {
    const { rows } = await client.query(HELD, [name]);
    return rows[0]?.held > 0;
  } catch (error) {
    throw databaseError(address, toStoreError(error));
  } finally {
    await client.end();
  }
}

/** Whether a database has a schema of that name. */
export async function hasSchema(address: Secret, name: string): Promise<boolean> {
  const client = await connect(address);
  try {
    const { rows } = await client.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [name]);
    return rows.length > 0;
  } catch (error) {
    throw databaseError(address, toStoreError(error));
  } finally {
    await client.end();
  }
}

async function connect(address: Secret): Promise<Client> {
  const client = new Client({
    connectionString: connectionString(address),
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "holdfast",
  });
  // A connection that breaks is noticed at its next use.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    throw databaseError(address, toStoreError(error));
  }
}
