import { type ConstructorOptions, PgBoss, type QueuePolicy } from "pg-boss";
import type { Clock, Stop } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { connectionString } from "../store/postgres/address.ts";
import { toStoreError } from "../store/postgres/connection.ts";
import { databaseError } from "../store/postgres/open.ts";
import { IDLE_TRANSACTION_MS } from "../store/postgres/session.ts";
import type { PassJob } from "./pass-queue.ts";

/** The schema of the jobs. */
export const JOBS_SCHEMA = "holdfast_jobs";

/** The queue of the passes to run now. */
export const PASSES = "passes";

// A job whose worker is silent for so long goes to another one; this is the least that the library takes.
const HEARTBEAT_S = 10;
const SUPERVISION_S = 1;
// How often jobs that have ended for long are deleted; by default once a day, when a look for some of them finds only old ones.
const DELETION_S = 60;
// Without a sign of life for three times as long, a process is no longer asked for passes.
const PRESENCE_S = 4;
const CONNECTIONS = 3;
// A database whose machine is gone answers nothing, and closes no connection.
const ANSWER_MS = 10_000;
const ENDED_CHECK_MS = 200;

/** How jobs are run: once more elsewhere where the worker is lost, and again and again until they can be. */
export const UNTIL_DONE = {
  heartbeatSeconds: HEARTBEAT_S,
  // What cannot run now, such as a pass over a target that another process is writing, is tried again until it can.
  retryLimit: 2 ** 31 - 1,
  retryDelay: 1,
} as const;

const OPTIONS = {
  // One running and one waiting job of each target: whatever is asked for meanwhile is the waiting one.
  policy: "stately",
  notify: true,
  // A pass may last long: only silence ends it.
  expireInSeconds: 86_400,
  deleteAfterSeconds: 600,
  ...UNTIL_DONE,
} as const;

/** How each process connects to the jobs. */
export function jobsConnection(address: Secret): ConstructorOptions {
  const connection = { query_timeout: ANSWER_MS, keepAlive: true };
  return {
    ...connection,
    connectionString: connectionString(address),
    application_name: "holdfast",
    schema: JOBS_SCHEMA,
    options: `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_MS}`,
    openTelemetry: { enabled: false },
  };
}

/** Opens the jobs in a database, with the queue of passes. */
export async function openJobs(address: Secret, onTrouble: (error: unknown) => void): Promise<PgBoss> {
  const boss = new PgBoss({
    ...jobsConnection(address),
    max: CONNECTIONS,
    useListenNotify: true,
    schedule: false,
    instanceHeartbeatSeconds: PRESENCE_S,
    superviseIntervalSeconds: SUPERVISION_S,
    maintenanceIntervalSeconds: DELETION_S,
    monitorIntervalSeconds: SUPERVISION_S,
    queueCacheIntervalSeconds: SUPERVISION_S,
  });
  boss.on("error", onTrouble);
  try {
    await boss.start();
    await setUpQueue(boss, PASSES, OPTIONS);
    return boss;
  } catch (error) {
    throw jobsError(address, error);
  }
}

/** Why the jobs in a database cannot be used; what is said of one of them stays as it is. */
export function jobsError(address: Secret, error: unknown): Error {
  return error instanceof HoldfastError ? error : databaseError(address, toStoreError(error));
}

type QueueOptions = typeof UNTIL_DONE & {
  readonly policy: QueuePolicy;
  readonly deleteAfterSeconds: number;
  readonly expireInSeconds?: number;
  readonly notify?: boolean;
};

/** Makes a queue, or gives the one that an earlier release has made the options of this one. */
export async function setUpQueue(boss: PgBoss, name: string, { policy, ...options }: QueueOptions): Promise<void> {
  await boss.createQueue(name, { policy, ...options });
  await boss.updateQueue(name, options);
}

/** The control plane of each target, as the ledger names it. */
export type Servers = ReadonlyMap<string, string>;

/** A pass in the queue, with its control plane. */
export type QueuedPass = PassJob & {
  readonly server?: string;
  /** How often in a row it was cut short. */
  readonly losses?: number;
  /** The process that it was cut short in, and how often that one has left it to the others since. */
  readonly cutShortIn?: string;
  readonly left?: number;
};

/** A pass to ask for, and what tells it apart from others. */
export type PassRequest = {
  readonly pass: QueuedPass;
  readonly options: { readonly singletonKey: string; readonly group?: { readonly id: string } };
};

/** A pass that is asked for by a process of a configuration with these control planes. */
export function passRequest(job: PassJob, servers: Servers): PassRequest {
  const server = servers.get(job.target);
  if (server === undefined) return { pass: job, options: { singletonKey: job.target } };
  // A process of another configuration in the same database may have another target of this name.
  const options = { singletonKey: `${job.target} ${server}` };
  const isGrouped = new Set(servers.values()).size > 1;
  return { pass: { ...job, server }, options: isGrouped ? { ...options, group: { id: server } } : options };
}

/** Asks for a pass now; the wider scope replaces what waits, also what is tried again, and the narrower one is part of it. */
export async function askForPass(boss: PgBoss, { pass, options }: PassRequest): Promise<readonly string[]> {
  // One that waits since it was cut short begins now.
  if (pass.scope === "all") return (await boss.upsert(PASSES, pass, { ...options, match: "all", startAfter: 0 })).jobs;
  const id = await boss.send(PASSES, pass, options);
  return id === null ? [] : [id];
}

/** Resolves when a pass has ended; fails where it was given up, since no process made it. */
export type JobEnded = (id: string) => Promise<void>;

/** Waits for the ends of passes, with one look at all of them together: a process may wait for those of hundreds of targets. */
export function endsOfJobs(boss: PgBoss, clock: Clock, stop: Partial<Stop> = {}): JobEnded {
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const settle = (ids: Iterable<string>, end: (wait: PromiseWithResolvers<void>, id: string) => void): void => {
    for (const id of ids) {
      const wait = waiting.get(id);
      waiting.delete(id);
      if (wait !== undefined) end(wait, id);
    }
  };
  const watch = async (): Promise<void> => {
    while (waiting.size > 0) {
      const asked = [...waiting.keys()];
      const { open, cancelled } = await jobsNow(boss, asked);
      settle(cancelled.keys(), ({ reject }, id) => reject(givenUp(cancelled.get(id) ?? "")));
      settle(new Set(asked).difference(open), ({ resolve }) => resolve());
      if (waiting.size > 0) await clock.sleep(ENDED_CHECK_MS, { ref: stop.signal !== undefined, ...stop });
    }
  };
  return (id) => {
    const known = waiting.get(id);
    if (known !== undefined) return known.promise;
    const wait = Promise.withResolvers<void>();
    waiting.set(id, wait);
    // The first one looks for all that are added meanwhile.
    if (waiting.size === 1) watch().catch((error: unknown) => settle(waiting.keys(), ({ reject }) => reject(error)));
    return wait.promise;
  };
}

type JobsNow = {
  /** Those that wait or run. */
  readonly open: ReadonlySet<string>;
  /** The targets of those that were given up. */
  readonly cancelled: ReadonlyMap<string, string>;
};

async function jobsNow(boss: PgBoss, ids: readonly string[]): Promise<JobsNow> {
  const text = `SELECT id, state, data->>'target' AS target FROM ${JOBS_SCHEMA}.job WHERE name = $1 AND id = ANY($2::uuid[])`;
  const { rows } = await boss.getDb().executeSql(text, [PASSES, ids]);
  const jobs: readonly { readonly id: string; readonly state: string; readonly target: string }[] = rows;
  const isOpen = ({ state }: { readonly state: string }): boolean => ["created", "retry", "active"].includes(state);
  return {
    open: new Set(jobs.filter(isOpen).map(({ id }) => id)),
    cancelled: new Map(jobs.filter(({ state }) => state === "cancelled").map(({ id, target }) => [id, target])),
  };
}

function givenUp(target: string): HoldfastError {
  return new HoldfastError("error", `the pass was not made: no process watches the target ${target}`, {
    hint: "start holdfast watch --workers N with a configuration that has it",
  });
}
