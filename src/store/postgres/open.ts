import { Kysely, sql } from "kysely";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { Secret } from "../../contract/secret.ts";
import { isMigrated, type Migrations, migrate, requireSchema, type SchemaMode } from "../migrate.ts";
import type { ConnectionUse, Store } from "../store.ts";
import { StoreError, type StoreErrorCode, storeErrorCode } from "../store-error.ts";
import { publicAddress } from "./address.ts";
import { CommitMarkerPool, createMarkersTable, deleteOldMarkers } from "./commit-markers.ts";
import { postgresDialect } from "./dialect.ts";
import { ownConnections, type SchemaConnections, type SchemaPlace, sharedConnections } from "./pools.ts";
import { PostgresWriter, type RetryLimits } from "./writer.ts";

// Small numbers, since many servers may share the database's connections.
const POOLS = { read: 4, write: 6 };

/** How a PostgreSQL database is opened. */
export type PostgresOptions = Partial<RetryLimits> & {
  readonly clock: Clock;
  readonly random: Random;
  /** What to do where the schema is not current. @default "migrate" */
  readonly schema?: SchemaMode | (() => Promise<SchemaMode>);
  /** The PostgreSQL schema of the tables, which is created when absent. @default that of the user */
  readonly namespace?: string;
  /** The most connections. */
  readonly pools?: { readonly read: number; readonly write: number };
  /** Whether all stores that are given the same address share them. @default false */
  readonly sharesConnections?: boolean;
  /** How long a transaction may wait for its next statement, in milliseconds: a suspended process holds its rows so long. @default 30_000 */
  readonly idleTransactionMs?: number;
};

/** Opens a PostgreSQL database, which other servers may use at the same time, and migrates its schema. */
export async function openPostgresStore<Tables>(
  address: Secret,
  migrations: Migrations,
  {
    schema = "migrate",
    namespace,
    pools: sizes = POOLS,
    sharesConnections = false,
    idleTransactionMs = 30_000,
    clock,
    random,
    ...limits
  }: PostgresOptions,
): Promise<Store<Tables>> {
  const place = { address, namespace };
  const open = (use: "read" | "write"): SchemaConnections => {
    const options = { connections: sizes[use], idleTransactionMs };
    return sharesConnections ? sharedConnections(place, use, options) : ownConnections(place, options);
  };
  const pools = { read: open("read"), write: open("write") };
  const read = new Kysely<Tables>({ dialect: postgresDialect(pools.read) });
  try {
    await prepare(read, { place, migrations, schema });
  } catch (error) {
    await Promise.all([read.destroy(), pools.write.end()]);
    throw databaseError(address, error);
  }
  const writer = new PostgresWriter<Tables>(
    new Kysely<Tables>({ dialect: postgresDialect(pools.write, new CommitMarkerPool(random)) }),
    { clock, random, ...limits },
  );
  const close = async () => {
    await writer.close();
    await read.destroy();
  };
  return {
    read,
    write: (change) => writer.write(change),
    time: clockTime,
    commits: () => writer.commits,
    isShared: true,
    unwritable: () => unwritable(read, writer),
    connections: () => [useOf("read", pools.read), useOf("write", pools.write)],
    close,
    [Symbol.asyncDispose]: close,
  };
}

function useOf(pool: ConnectionUse["pool"], { counts }: SchemaConnections): ConnectionUse {
  const { totalCount, idleCount, waitingCount } = counts();
  return { pool, idle: idleCount, busy: totalCount - idleCount, waiters: waitingCount };
}

async function clockTime<Tables>(database: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{
    time: number;
  }>`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time`.execute(database);
  const [row] = rows;
  if (row === undefined) throw new TypeError("the database returned no time");
  return row.time;
}

/** Translates an error on opening a database into one that names the database and the cause. */
export function databaseError(address: Secret, error: unknown): StoreError {
  const code = storeErrorCode(error) ?? "failed";
  const why = code === "unreachable" || code === "forbidden" ? whyText(error) : "";
  const text = `${publicAddress(address)}: ${reasons[code] ?? "it could not be opened"}${why}`;
  return new StoreError(code, text, { cause: error });
}

// Refused, not found, no TLS, too many clients, no permission: these messages contain no secret.
function whyText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return "";
  const text = cause.message || ("code" in cause ? String(cause.code) : "");
  return text === "" ? "" : ` (${text})`;
}

// A standby, or a server whose disk is full, may be read-only.
async function unwritable<Tables>(
  database: Kysely<Tables>,
  writer: PostgresWriter<Tables>,
): Promise<StoreErrorCode | null> {
  const { rows } = await sql<{
    readonly readOnly: string;
  }>`SELECT current_setting('transaction_read_only') AS "readOnly"`.execute(database);
  if (rows[0]?.readOnly !== "off") return "inaccessible";
  if (!writer.isFull) return null;
  try {
    // Every commit writes its marker, so an empty transaction writes too.
    await writer.write(async () => {});
    return null;
  } catch (error) {
    return storeErrorCode(error) ?? "failed";
  }
}

type Preparation = Required<Pick<PostgresOptions, "schema">> & {
  readonly place: SchemaPlace;
  readonly migrations: Migrations;
};

async function prepare<Tables>(database: Kysely<Tables>, { place, migrations, schema }: Preparation): Promise<void> {
  const { rows } = await sql<{
    version: number;
  }>`SELECT current_setting('server_version_num')::bigint AS version`.execute(database);
  if ((rows[0]?.version ?? 0) < MIN_VERSION) throw new StoreError("older-server", "the server is too old");
  const isCurrent = await isMigrated(database, migrations, place.namespace);
  const mode = typeof schema === "string" ? schema : isCurrent ? "migrate" : await schema();
  if (mode === "leave") {
    if (!isCurrent) await requireSchema(database, migrations, place.namespace);
    return;
  }
  if (!isCurrent) await migrateAt(place, migrations);
  await prepareMarkers(database);
}

// Without time limits, since a table may be large.
async function migrateAt(place: SchemaPlace, migrations: Migrations): Promise<void> {
  const connections = ownConnections(place, { connections: 1, idleTransactionMs: null });
  await using database = new Kysely<unknown>({ dialect: postgresDialect(connections) });
  await migrate(database, migrations, place.namespace);
}

async function prepareMarkers<Tables>(database: Kysely<Tables>): Promise<void> {
  const { rows } = await sql<{ table: string | null }>`SELECT to_regclass('holdfast_commits') AS table`.execute(
    database,
  );
  // A user without the right to create tables can use an existing one.
  if (rows[0]?.table == null) {
    await database.transaction().execute(async (transaction) => {
      // Otherwise servers that start at the same time could fail.
      await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(transaction);
      await sql.raw(createMarkersTable).execute(transaction);
    });
  }
  await sql.raw(deleteOldMarkers).execute(database);
}

const LOCK = 7_031_965_001;

// The oldest version that the tests cover.
const MIN_VERSION = 130_000;

const reasons: { readonly [fault in StoreErrorCode]?: string } = {
  locked: "another process holds it",
  corrupt: "it is damaged",
  "newer-schema": "it was written by a newer release",
  "older-schema": "it was written by an older release and has not been upgraded",
  empty: "it has no schema yet",
  "older-server": "PostgreSQL 13 or newer is required",
  inaccessible: "it cannot be written",
  full: "its disk is full",
  unreachable: "it cannot be reached",
  denied: "it refuses this user or password",
  forbidden: "it refuses this user an operation",
  absent: "there is no such database",
};
