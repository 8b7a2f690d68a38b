import { type ConstructorOptions, PgBoss, type QueuePolicy } from "pg-boss";
import type { Clock, Stop } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
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
    throw databaseError(address, toStoreError(error));
  }
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

/** Resolves when a pass has ended. */
export async function jobEnded(boss: PgBoss, id: string, clock: Clock, stop: Partial<Stop> = {}): Promise<void> {
  for (;;) {
    const [job] = await boss.findJobs(PASSES, { id });
    if (job === undefined || !["created", "retry", "active"].includes(job.state)) return;
    await clock.sleep(ENDED_CHECK_MS, { ref: stop.signal !== undefined, ...stop });
  }
}
