import {
  createRequestLimit,
  LATE_MS,
  MOST_LATE_MS,
  type RequestLimit,
  type RequestTurns,
} from "../client/request-limit.ts";
import type { Clock } from "../clock/clock.ts";
import { errorMessage } from "../contract/error-message.ts";
import type { Secret } from "../contract/secret.ts";
import {
  NO_SHARES,
  type RequestLimits,
  type RequestShare,
  type RequestShares,
  SHARE_MS,
  type ShareRequest,
  takeShare,
} from "../core/request-shares.ts";
import { type DatabaseSession, openDatabaseSession } from "../store/postgres/session.ts";

/** A process asks for its share no more often, as long as it is not free to give something back. */
const ASKING_MS = 200;
/** A process that uses its share asks for it again so often, and gives back what it does not need. */
const RENEWAL_MS = 1000;
const RETRY_MS = 1000;
const GIVING_BACK_MS = 1000;
/** Turns that the database tells later say too little of when they are. */
const MOST_DELAY_MS = 1000;

// Several processes create the table at the same time. A share that a crash of the database forgets ends soon anyway.
const SETUP = `SELECT pg_advisory_xact_lock(7031967);
  CREATE SCHEMA IF NOT EXISTS holdfast_limits;
  CREATE TABLE IF NOT EXISTS holdfast_limits.shares (server text PRIMARY KEY, version bigint NOT NULL, shares jsonb NOT NULL);
  SET synchronous_commit = off`;
const READ = `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, version, shares
  FROM (SELECT 1) AS one LEFT JOIN holdfast_limits.shares ON server = $1`;
const WRITE = `INSERT INTO holdfast_limits.shares AS stored (server, version, shares) VALUES ($1, $2::bigint + 1, $3)
  ON CONFLICT (server) DO UPDATE SET version = stored.version + 1, shares = excluded.shares WHERE stored.version = $2
  RETURNING version`;

/** The limits of control planes that the processes of a fleet keep together. */
export type FleetLimits = AsyncDisposable & {
  /** The limit of a control plane, which all processes call the same. */
  readonly limit: (server: string, limits: RequestLimits) => RequestLimit;
};

/** Where the processes of a fleet share the limits, and who this one is. */
export type FleetLimitsOptions = {
  readonly address: Secret;
  /** Told apart from those of all other processes, also of earlier ones. */
  readonly process: string;
  readonly clock: Clock;
  /** Called with what goes wrong, such as a database that cannot be reached. */
  readonly onTrouble: (error: unknown) => void;
};

/** Opens the limits that the processes of a fleet share; the database is connected when the first request is to begin. */
export function openFleetLimits({ address, process, clock, onTrouble: tell }: FleetLimitsOptions): FleetLimits {
  const database = createDatabase(address, clock);
  let told = "";
  // A database that cannot be reached is told once, and not each time that it is asked.
  const onTrouble = (error: unknown): void => {
    if (errorMessage(error) !== told) tell(error);
    told = errorMessage(error);
  };
  const ends: (() => Promise<void>)[] = [];
  return {
    limit: (server, limits) =>
      createRequestLimit((onTurn) => {
        const ask = async (asked: Omit<ShareRequest, "process">): Promise<DatedShare> => {
          const share = await askForShare(database.query, server, { asked: { ...asked, process }, limits, clock });
          told = "";
          return share;
        };
        const turns = createSharedTurns(limits, { ask, clock, onTrouble, onTurn });
        ends.push(turns.giveBack);
        return turns;
      }),
    [Symbol.asyncDispose]: async () => {
      const given = Promise.allSettled(ends.map((giveBack) => giveBack()));
      await Promise.race([given, clock.sleep(GIVING_BACK_MS, { ref: false })]);
      await database[Symbol.asyncDispose]();
    },
  };
}

/** A share, and when it was asked for and told, on the monotonic clock of this process. */
type DatedShare = RequestShare & { readonly askedAt: number; readonly toldAt: number };

/** How a process gets its share. */
type Sharing = {
  readonly ask: (asked: Omit<ShareRequest, "process">) => Promise<DatedShare>;
  readonly clock: Clock;
  readonly onTrouble: (error: unknown) => void;
  readonly onTurn: () => void;
};

type SharedTurns = RequestTurns & {
  /** Ends the asking, and leaves the share to the others. */
  readonly giveBack: () => Promise<void>;
};

/** Creates the turns of this process among those that share the limits of a control plane. */
export function createSharedTurns(
  { concurrency, requestsPerSecond }: RequestLimits,
  { ask, clock, onTrouble, onTurn }: Sharing,
): SharedTurns {
  const { monotonic, after } = clock;
  const spacingMs = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond;
  let [inFlight, waiting] = [0, 0];
  // The most requests that there were at once since the last share.
  let peak = 0;
  let [most, mostUntil, owes] = [0, Number.NEGATIVE_INFINITY, false];
  let [nextAt, turnsEnd] = [0, Number.NEGATIVE_INFINITY];
  let turnTimer: Disposable | null = null;
  let [nextAskAt, plannedAt] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let planned: Disposable | null = null;
  let asking: Promise<void> | null = null;
  let isOver = false;
  const mayHold = (now: number): boolean => concurrency === null || (inFlight < most && now < mostUntil);
  const hasTurns = (now: number): boolean =>
    requestsPerSecond === null ||
    (Math.max(nextAt, now - LATE_MS) < turnsEnd && now <= turnsEnd - spacingMs + MOST_LATE_MS);
  const askAt = (time: number): void => {
    if (isOver || asking !== null || time >= plannedAt) return;
    planned?.[Symbol.dispose]();
    plannedAt = time;
    planned = after(Math.max(0, time - monotonic()), () => {
      [planned, plannedAt] = [null, Number.POSITIVE_INFINITY];
      asking = askNow().finally(() => {
        asking = null;
        if (concurrency !== null && (most > 0 || inFlight > 0)) askAt(nextAskAt + RENEWAL_MS - ASKING_MS);
        repay();
        onTurn();
      });
    });
  };
  // Others wait for what this process has in flight beyond its share.
  const repay = (): void => {
    if (owes) askAt(inFlight <= most ? monotonic() : nextAskAt);
  };
  const askNow = async (): Promise<void> => {
    const wanted = inFlight + waiting === 0 ? 0 : Math.max(peak, inFlight + waiting);
    const asked = { inFlight, wanted, needsTurns: waiting > 0 && !hasTurns(monotonic()) };
    peak = inFlight + waiting;
    // What it has in flight may not grow meanwhile, since the others may be given the rest.
    most = Math.min(most, inFlight);
    try {
      const share = await ask(asked);
      most = concurrency === null ? 0 : share.most;
      mostUntil = share.askedAt + SHARE_MS;
      owes = asked.inFlight > share.most;
      nextAskAt = share.askedAt + (wanted === 0 ? 0 : ASKING_MS);
      if (share.turns === 0 || share.toldAt - share.askedAt > MOST_DELAY_MS) return;
      nextAt = share.toldAt + share.turnsIn;
      turnsEnd = nextAt + share.turns * spacingMs;
    } catch (error) {
      nextAskAt = monotonic() + RETRY_MS;
      if (!isOver) onTrouble(error);
    }
  };
  return {
    begin: (count) => {
      waiting = count;
      peak = Math.max(peak, inFlight + waiting);
      const now = monotonic();
      if (!mayHold(now) || !hasTurns(now)) {
        askAt(Math.max(now, nextAskAt));
        return false;
      }
      if (requestsPerSecond !== null && now < nextAt) {
        turnTimer ??= after(nextAt - now, () => {
          turnTimer = null;
          onTurn();
        });
        return false;
      }
      nextAt = Math.max(nextAt, now - LATE_MS) + spacingMs;
      inFlight += 1;
      waiting -= 1;
      return true;
    },
    end: () => {
      inFlight -= 1;
      if (inFlight + waiting === 0 && most > 0) askAt(monotonic() + ASKING_MS);
      repay();
    },
    giveBack: async () => {
      isOver = true;
      for (const timer of [planned, turnTimer]) timer?.[Symbol.dispose]();
      await asking;
      const hasShare = most > 0 && monotonic() < mostUntil;
      if (hasShare) await ask({ inFlight: 0, wanted: 0, needsTurns: false });
    },
  };
}

type Query = DatabaseSession["query"];

async function askForShare(
  query: Query,
  server: string,
  { asked, limits, clock }: { readonly asked: ShareRequest; readonly limits: RequestLimits; readonly clock: Clock },
): Promise<DatedShare> {
  for (;;) {
    const askedAt = clock.monotonic();
    const [row] = await query<{ now: number; version: string | null; shares: RequestShares | null }>(READ, [server]);
    const toldAt = clock.monotonic();
    if (row === undefined) throw new TypeError("the database returned no time");
    const { after, share } = takeShare(row.shares ?? NO_SHARES, asked, { ...limits, now: row.now });
    const written = await query(WRITE, [server, row.version ?? "0", JSON.stringify(after)]);
    // Otherwise another process has taken a share meanwhile.
    if (written.length > 0) return { ...share, askedAt, toldAt };
  }
}

// One connection, opened again when it is broken.
function createDatabase(address: Secret, clock: Clock): AsyncDisposable & { readonly query: Query } {
  let session: Promise<DatabaseSession> | null = null;
  const open = async (): Promise<DatabaseSession> => {
    const opened = await openDatabaseSession(address, { clock });
    try {
      await opened.query(SETUP);
      return opened;
    } catch (error) {
      await Promise.resolve(opened[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  };
  const close = async (opened: typeof session): Promise<void> => {
    if (session === opened) session = null;
    await opened?.then((one) => one[Symbol.asyncDispose]()).catch(() => {});
  };
  return {
    query: async <Row>(text: string, values?: readonly unknown[]) => {
      session ??= open();
      const used = session;
      try {
        return await (await used).query<Row>(text, values);
      } catch (error) {
        void close(used);
        throw error;
      }
    },
    [Symbol.asyncDispose]: () => close(session),
  };
}
