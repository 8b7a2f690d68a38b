import { hostname } from "node:os";
import { type Kysely, sql } from "kysely";
import { HoldfastError } from "../../core/errors.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { seal } from "../../seal/seal.ts";
import type { SealKey } from "../../seal/seal-key.ts";
import { requireSchema } from "../../store/migrate.ts";
import { publicAddress } from "../../store/postgres/address.ts";
import { databaseError, openPostgresStore } from "../../store/postgres/open.ts";
import { hasSchema, IDLE_TRANSACTION_MS } from "../../store/postgres/session.ts";
import { lazyStore, unlessStopped } from "../../store/postgres/unless-stopped.ts";
import type { Store } from "../../store/store.ts";
import { isUnwritable, StoreError } from "../../store/store-error.ts";
import { ledgerIn } from "../database/ledger.ts";
import { holderId, recordedNames } from "../database/state-database.ts";
import { givenKey, requireKeyOf, requireSealedWith } from "../database/state-key.ts";
import type { StateTables } from "../database/state-schema.ts";
import { storedTarget } from "../database/target-store.ts";
import { makeStateFolder } from "../sqlite/ledger-folders.ts";
import type { DatabasePlace, StateAccess, StateAccessOptions, StateLock } from "../state.ts";
import { cacheTable } from "./cache-table.ts";
import { schemaOf, shownSchema } from "./state-schemas.ts";
import { postgresStateMigrations } from "./state-tables.ts";
import { isWriterLeaseHeld, takeWriterLease } from "./writer-lease.ts";

/** The connections of all targets of a process together, since many machines may share those of the database. */
export const POOLS = { read: 4, write: 4 };

/** The state of a target in a PostgreSQL database, in a schema of its own. */
export function postgresStateAt(place: DatabasePlace, options: StateAccessOptions): StateAccess {
  const { address, folder } = place;
  const schema = schemaOf(place.target);
  const migrations = postgresStateMigrations(place.target);
  const shown = shownSchema(publicAddress(address), schema);
  // The number under which this process took the lock; null while it has not.
  let number: number | null = null;
  let hasFormer = false;
  const { clock, random } = options;
  const waiting = { address, signal: options.stopping, clock };
  const isLocked = (): Promise<boolean> => unlessStopped(isWriterLeaseHeld({ place, schema, clock }), waiting);
  const open = async (): Promise<Store<StateTables>> => {
    const keyText = options.readKey?.() ?? null;
    const key = keyText === null ? null : givenKey(keyText);
    await using resources = new AsyncDisposableStack();
    const store = resources.use(await openStore());
    if (key !== null) {
      await requireSealedWith(key, store.read, `the state in ${shown}`);
      requireKeyOf(await keyCheckIn(store.read), key, `the state in ${shown}`);
    }
    resources.move();
    return key === null ? store : withKeyCheck(store, key, shown);
  };
  const openStore = async (): Promise<Store<StateTables>> => {
    let mayMigrate = true;
    const opened = openPostgresStore<StateTables>(address, migrations, {
      ...{ clock, random, pools: POOLS, sharesConnections: true, idleTransactionMs: IDLE_TRANSACTION_MS },
      schema: async () => {
        mayMigrate = number !== null || !(await isLocked());
        return mayMigrate ? "migrate" : "leave";
      },
      namespace: schema,
    });
    return opened.catch((error: unknown) => (mayMigrate ? Promise.reject(error) : throwInUse(shown, error)));
  };
  const lazy = lazyStore(open, waiting);
  const opened = async (): Promise<Store<StateTables>> => fenced(await lazy.opened(), () => number, shown);
  const database = {
    writable: opened,
    readable: opened,
    [Symbol.asyncDispose]: lazy[Symbol.asyncDispose],
  };
  const lock = async (): Promise<StateLock> => {
    const store = await opened();
    // Another process may have upgraded the schema since this one opened it.
    await requireSchema(store.read, migrations, schema).catch((error: unknown) => {
      throw databaseError(address, error);
    });
    const by = `process ${process.pid} on ${hostname()}, since ${timestampText(clock.now())}`;
    const lease = await takeWriterLease({ place, schema, by, clock });
    if (!("number" in lease)) throw inUse(shown, lease.heldBy);
    ({ number } = lease);
    hasFormer = lease.leftBy !== null;
    return {
      leftBy: lease.leftBy,
      number: lease.number,
      [Symbol.asyncDispose]: async () => {
        number = null;
        await lease[Symbol.asyncDispose]();
      },
    };
  };
  const holderOf = async (nth: number | null): Promise<string> => {
    return `postgres:${schema} (${await holderId(database, random)}${nth === null ? "" : ` ${nth}`})`;
  };
  return {
    target: async () => storedTarget(database),
    recorded: () => recordedNames(database),
    exists: () => unlessStopped(hasSchema(address, schema, clock), waiting),
    isLocked,
    open: async ({ keyText }) => {
      const key = requireKey(shown, keyText);
      // For the caches of the sources alone: a machine without a disk has none.
      await makeStateFolder(folder).catch((error: unknown) => {
        if (!isUnwritable(error)) throw error;
      });
      const store = await lazy.opened();
      return {
        key,
        isWritable: true,
        lock,
        holder: () => holderOf(number),
        formerHolder: async () => (number !== null && hasFormer ? holderOf(number - 1) : null),
        ledger: async (server) => ledgerIn(await opened(), { server, key }),
        cache: (_, about) => cacheTable(store, { ...waiting, address, key, about, stopping: options.stopping }),
      };
    },
    [Symbol.asyncDispose]: database[Symbol.asyncDispose],
  };
}

/** The key of a state in a database; fails without one, since a database stores none. */
export function requireKey(shown: string, keyText: string | null): SealKey {
  if (keyText === null) {
    throw new HoldfastError("invalid", `the state in ${shown} is sealed with a key, and none is given`, {
      hint: "name the file of the key that it was created with by HOLDFAST_STATE_KEY_FILE; for a new state, make one with `(umask 077; openssl rand -base64 32 > state.key)`",
    });
  }
  return givenKey(keyText);
}

// Leaves a value that is sealed with the key, by which another one is noticed also where nothing else is sealed.
function withKeyCheck(store: Store<StateTables>, key: SealKey, shown: string): Store<StateTables> {
  let isKept = false;
  return {
    ...store,
    write: async (change) => {
      const result = await store.write(async (transaction) => {
        if (!isKept) await keepKeyCheck(transaction, key, shown);
        return change(transaction);
      });
      isKept = true;
      return result;
    },
  };
}

async function keepKeyCheck(database: Kysely<StateTables>, key: SealKey, shown: string): Promise<void> {
  await sql`INSERT INTO key_check (one, sealed) VALUES (1, ${seal(key, "", "key check")}) ON CONFLICT DO NOTHING`.execute(
    database,
  );
  // Another process with another key may have been the first.
  requireKeyOf(await keyCheckIn(database), key, `the state in ${shown}`);
}

async function keyCheckIn(database: Kysely<StateTables>): Promise<Uint8Array | null> {
  const { rows } = await sql<{ sealed: Uint8Array }>`SELECT sealed FROM key_check`.execute(database);
  return rows[0]?.sealed ?? null;
}

// A process whose connection broke may have lost the lock without knowing. Whoever takes it changes the number, which
// every later write of the former holder then finds changed.
function fenced(store: Store<StateTables>, numberNow: () => number | null, shown: string): Store<StateTables> {
  return {
    ...store,
    write: (change) =>
      store.write(async (transaction) => {
        const number = numberNow();
        if (number !== null) await requireNumber(transaction, number, shown);
        return change(transaction);
      }),
  };
}

async function requireNumber(database: Kysely<StateTables>, number: number, shown: string): Promise<void> {
  // Shared by the writes of this process; taking the lock waits for them.
  const { rows } = await sql<{
    number: number;
    by: string | null;
  }>`SELECT number, by FROM writer WHERE one = 1 FOR SHARE`.execute(database);
  if (rows[0]?.number === number) return;
  const by = rows[0]?.by ?? null;
  throw new HoldfastError(
    "locked",
    `another process has taken over the state in ${shown}${by === null ? "" : `: ${by}`}`,
    {
      hint: "nothing was written here since; this process lost its connection to the database meanwhile",
    },
  );
}

/** The error where another process has the lock. */
export function inUse(shown: string, by: string | null): HoldfastError {
  const who = by === null ? "" : `: ${by}`;
  return new HoldfastError("locked", `another holdfast process is using the state in ${shown}${who}`, {
    hint: "wait until it ends, or stop it; with one writer at a time no version is created twice",
  });
}

function throwInUse(shown: string, error: unknown): never {
  if (!(error instanceof StoreError) || !["older-schema", "empty"].includes(error.code)) throw error;
  throw new StoreError(
    "locked",
    `${shown}: it was written by an older release, and a process of that release is using it`,
  );
}
