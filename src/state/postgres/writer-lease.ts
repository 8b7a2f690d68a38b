import type { Clock } from "../../clock/clock.ts";
import {
  type DatabaseSession,
  inBriefSession,
  inTransaction,
  openDatabaseSession,
  unlessGone,
} from "../../store/postgres/session.ts";
import { StoreError, storeErrorCode } from "../../store/store-error.ts";
import type { DatabasePlace } from "../state.ts";

// A holder that has not renewed its lease for this long has lost it, by the clock of the database.
const LEASE_MS = 10_000;
const RENEWAL_MS = 2500;

// The class of our session locks, whatever else takes advisory locks in the database.
const CLASS = 7_031_965;

const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

// A process that was killed has no session any more, so its lease is free before it ends.
const HAS_SESSION = `EXISTS (
  SELECT 1 FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid = ${CLASS} AND objsubid = 2
    AND objid = (hashtext(current_schema() || '#' || number)::bigint & 4294967295)::oid
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

// A process that is suspended holds its rows for seconds, and so do writes of a holder that overlap all the time.
const ROWS_MS = 500;

const IS_HELD = `by IS NOT NULL AND (SELECT until FROM writer_lease WHERE one = 1) > ${NOW} AND ${HAS_SESSION}`;

/** The right to write a target's state: a row with a fencing number, which ends unless it is renewed. */
export type WriterLease = AsyncDisposable & {
  /** The fencing number: it grows by one with each holder, and every write of the holder checks that it is still the newest. */
  readonly number: number;
  /** The holder before, if it has not given the lease back. */
  readonly leftBy: string | null;
};

/** Where the lease is, and who takes it. */
export type WriterPlace = {
  readonly place: DatabasePlace;
  readonly schema: string;
  /** The holder, as others read it. */
  readonly by: string;
  readonly clock: Clock;
};

/** Takes the lease until it is disposed, and renews it; returns who has it where it is not free. */
export async function takeWriterLease(where: WriterPlace): Promise<WriterLease | { readonly heldBy: string | null }> {
  const session = await openSession(where);
  try {
    const holder = await leaseHolder(session);
    const taken = holder === null ? await takeFree(session, where.by) : { heldBy: holder.by };
    if (!("number" in taken)) {
      await session[Symbol.asyncDispose]();
      return taken;
    }
    return { ...taken, [Symbol.asyncDispose]: renewed(session, taken.number, where) };
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error;
  }
}

/** Whether a process has the lease at this moment. */
export async function isWriterLeaseHeld(where: Omit<WriterPlace, "by">): Promise<boolean> {
  const { place, schema: namespace, clock } = where;
  return inBriefSession(place.address, { clock, namespace }, async (session) => (await leaseHolder(session)) !== null);
}

/** Who has the lease in the schema of a session at this moment; null if nobody has. */
export async function leaseHolder(session: DatabaseSession): Promise<{ readonly by: string | null } | null> {
  const [table] = await session.query<{ name: string | null }>("SELECT to_regclass('writer_lease') AS name");
  if (table?.name == null) return null;
  const [writer] = await session.query<{ by: string | null }>(`SELECT by FROM writer WHERE one = 1 AND ${IS_HELD}`);
  return writer ?? null;
}

function openSession({ place, schema, clock }: Omit<WriterPlace, "by">): Promise<DatabaseSession> {
  return openDatabaseSession(place.address, { clock, namespace: schema });
}

type Taken = { readonly number: number; readonly leftBy: string | null } | { readonly heldBy: string | null };

async function takeFree(session: DatabaseSession, by: string): Promise<Taken> {
  try {
    return await inTransaction(session, () => take(session, by));
  } catch (error) {
    if (storeErrorCode(error) === "locked") return { heldBy: null };
    throw error;
  }
}

async function take(session: DatabaseSession, by: string): Promise<Taken> {
  await session.query(`SET LOCAL lock_timeout = ${ROWS_MS}`);
  await session.query("INSERT INTO writer (one, number) VALUES (1, 0) ON CONFLICT (one) DO NOTHING");
  await session.query("INSERT INTO writer_lease (one, number, until) VALUES (1, 0, 0) ON CONFLICT (one) DO NOTHING");
  // Waits for the writes of the former holder that are under way, but not long.
  await session.query("SELECT 1 FROM writer WHERE one = 1 FOR UPDATE");
  const [writer] = await session.query<{ number: string; by: string | null; held: boolean }>(
    `SELECT number, by, (${IS_HELD}) AS held FROM writer WHERE one = 1`,
  );
  if (writer === undefined) throw new TypeError("the row of the writer is missing");
  if (writer.held) return { heldBy: writer.by };
  const number = Number(writer.number) + 1;
  await session.query("UPDATE writer SET number = $1, by = $2 WHERE one = 1", [number, by]);
  await session.query(`UPDATE writer_lease SET number = $1, until = ${NOW} + $2 WHERE one = 1`, [number, LEASE_MS]);
  await lockSession(session, number);
  return { number, leftBy: writer.by };
}

async function lockSession(session: DatabaseSession, number: number): Promise<void> {
  await session.query(`SELECT pg_advisory_lock_shared(${CLASS}, hashtext(current_schema() || '#' || $1))`, [number]);
}

/** Renews the lease, on a new connection where the last one broke; returns what ends that and gives the lease back. */
function renewed(first: DatabaseSession, number: number, where: WriterPlace): () => Promise<void> {
  const { clock } = where;
  const ended = new AbortController();
  let session: DatabaseSession | null = first;
  const connected = async (): Promise<DatabaseSession> => {
    if (session !== null) return session;
    session = await openSession(where);
    await lockSession(session, number);
    return session;
  };
  const renew = async (): Promise<void> => {
    try {
      const open = await connected();
      await open.query(`UPDATE writer_lease SET until = ${NOW} + $1 WHERE one = 1 AND number = $2`, [LEASE_MS, number]);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await session?.[Symbol.asyncDispose]();
      session = null;
    }
  };
  const renewing = (async (): Promise<void> => {
    while (!ended.signal.aborted) {
      await clock.sleep(RENEWAL_MS, { signal: ended.signal, ref: false }).catch(() => undefined);
      if (!ended.signal.aborted) await renew();
    }
  })();
  return async () => {
    ended.abort();
    await renewing;
    // The next holder otherwise learns that this one left the lease without a word, and is careful.
    await session?.query("UPDATE writer SET by = NULL WHERE one = 1 AND number = $1", [number]).catch(unlessGone);
    await session?.[Symbol.asyncDispose]();
    session = null;
  };
}
