import PQueue from "p-queue";
import { type JobWithMetadata, PgBoss, type SendOptions } from "pg-boss";
import type { Clock } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { connectionString } from "../store/postgres/address.ts";
import { toStoreError } from "../store/postgres/connection.ts";
import { databaseError } from "../store/postgres/open.ts";
import { IDLE_TRANSACTION_MS } from "../store/postgres/session.ts";
import {
  CutShortError,
  type DuePass,
  machineName,
  NotNowError,
  type PassJob,
  type PassQueue,
  type WorkTimes,
  waitAfterLoss,
} from "./pass-queue.ts";

const SCHEMA = "holdfast_jobs";
const QUEUE = "passes";

// A job whose worker is silent for so long goes to another one; this is the least that the library takes.
const HEARTBEAT_S = 10;
const RENEWAL_S = 2;
const SUPERVISION_S = 1;
const CONNECTIONS = 3;
// A database whose machine is gone answers nothing, and closes no connection.
const ANSWER_MS = 10_000;
const ASKED_AGAIN_MS = 1000;
const UNWATCHED_TRIES = 30;
const UNWATCHED_MS = 600_000;
const QUEUED_CHECK_MS = 1000;
const ENDED_CHECK_MS = 200;
const STOP_MS = 5000;

const OPTIONS = {
  // One running and one waiting job of each target: whatever is asked for meanwhile is the waiting one.
  policy: "stately",
  notify: true,
  heartbeatSeconds: HEARTBEAT_S,
  // A pass may last long: only silence ends it.
  expireInSeconds: 86_400,
  deleteAfterSeconds: 600,
  // What cannot run now, such as a pass over a target that another process is writing, is tried again until it can.
  retryLimit: 2 ** 31 - 1,
  retryDelay: 1,
} as const;

/** The queue of the passes of a fleet, in PostgreSQL. */
export type FleetQueueOptions = {
  readonly address: Secret;
  /** How many passes run at once in this process, over all targets. */
  readonly workers: number;
  /** The control plane of each target, as the ledger names it. */
  readonly servers: ReadonlyMap<string, string>;
  readonly clock: Clock;
  /** Called with what goes wrong between passes, such as a database that cannot be reached. */
  readonly onTrouble: (error: unknown) => void;
};

/** Opens the queue that the processes of a fleet share: of each target, one pass runs at a time, on one of the machines. */
export async function openFleetQueue({ onTrouble: tell, ...given }: FleetQueueOptions): Promise<PassQueue> {
  const told = new Set<string>();
  // A database that cannot be reached is told once, and not at every look into the queue.
  const onTrouble = (error: unknown): void => {
    const text = troubleText(error);
    if (!told.has(text)) tell(text);
    told.add(text);
  };
  const options = { ...given, onTrouble };
  const boss = await openBoss(options);
  const ended = new AbortController();
  const waiting = new Set<string>();
  const enqueue = async (job: PassJob): Promise<void> => {
    const key = JSON.stringify([job.target, job.scope]);
    for (;;) {
      try {
        await ask(boss, job, options);
        return;
      } catch (error) {
        onTrouble(error);
      }
      // The same is asked for again already.
      if (waiting.has(key)) return;
      waiting.add(key);
      await options.clock.sleep(ASKED_AGAIN_MS, { signal: ended.signal }).catch(() => {});
      waiting.delete(key);
      if (ended.signal.aborted) return;
    }
  };
  const lanes = new Map<string, Lane>();
  await boss.work(
    QUEUE,
    {
      localConcurrency: options.workers,
      // A control plane that is slow never occupies all workers of a process.
      localGroupConcurrency: Math.max(1, options.workers - 1),
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
      heartbeatRefreshSeconds: RENEWAL_S,
      includeMetadata: true,
    },
    async ([job]: JobWithMetadata<QueuedPass>[]) => {
      told.clear();
      if (job !== undefined) await runJob(job, { boss, lanes, ...options });
    },
  );
  const laneOf = (target: string): Lane => {
    const lane = lanes.get(target) ?? { running: null, inTurn: new PQueue({ concurrency: 1 }) };
    lanes.set(target, lane);
    return lane;
  };
  return {
    machine: machineName,
    enqueue: (job) => void enqueue(job),
    between: (target, command) => laneOf(target).inTurn.add(command),
    passed: async (job) => {
      try {
        for (const id of await ask(boss, job, options)) await jobEnded(boss, id, options.clock);
      } catch (error) {
        throw databaseError(options.address, toStoreError(error));
      }
    },
    work: async (target, pass, times) => {
      const lane = laneOf(target);
      const failed = Promise.withResolvers<never>();
      lane.running = { pass, times, fail: failed.reject };
      try {
        await Promise.race([askOnInterval(boss, target, times, options), failed.promise]);
      } finally {
        lane.running = null;
        // A pass of this target may still be ending.
        await lane.inTurn.onIdle();
      }
    },
    [Symbol.asyncDispose]: () => {
      ended.abort();
      return boss.stop({ graceful: true, timeout: STOP_MS });
    },
  };
}

// The library tells of some errors as objects that have the members of an error.
function troubleText(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}

/** A target of this process. */
type Lane = {
  /** How its passes run here; null where this process does not run them. */
  running: Running | null;
  /** The passes and commands on it, one after the other. */
  readonly inTurn: PQueue;
};

type Running = {
  readonly pass: (due: DuePass) => Promise<void>;
  readonly times: WorkTimes;
  /** Ends the work on the target for good. */
  readonly fail: (error: unknown) => void;
};

async function openBoss({ address, onTrouble }: FleetQueueOptions): Promise<PgBoss> {
  const connection = { query_timeout: ANSWER_MS, keepAlive: true };
  const boss = new PgBoss({
    ...connection,
    connectionString: connectionString(address),
    application_name: "holdfast",
    schema: SCHEMA,
    options: `-c idle_in_transaction_session_timeout=${IDLE_TRANSACTION_MS}`,
    max: CONNECTIONS,
    useListenNotify: true,
    schedule: false,
    superviseIntervalSeconds: SUPERVISION_S,
    monitorIntervalSeconds: SUPERVISION_S,
    openTelemetry: { enabled: false },
  });
  boss.on("error", onTrouble);
  try {
    await boss.start();
    await boss.createQueue(QUEUE, OPTIONS);
    return boss;
  } catch (error) {
    throw databaseError(address, toStoreError(error));
  }
}

// The wider scope replaces what waits already, a new job and one that is tried again; the narrower one is part of it.
async function ask(boss: PgBoss, job: PassJob, servers: Servers): Promise<readonly string[]> {
  const { target } = job;
  const of = sendOptions(target, servers);
  const queued: QueuedPass = { ...job, ...queuedServer(target, servers) };
  // One that waits since it was cut short begins now.
  if (job.scope === "all") return (await boss.upsert(QUEUE, queued, { ...of, match: "all", startAfter: 0 })).jobs;
  const id = await boss.send(QUEUE, queued, of);
  return id === null ? [] : [id];
}

type Servers = Pick<FleetQueueOptions, "servers">;

function sendOptions(target: string, { servers }: Servers): SendOptions {
  const id = servers.get(target);
  if (id === undefined) return { singletonKey: target };
  const isGrouped = new Set(servers.values()).size > 1;
  return { singletonKey: `${target} ${id}`, ...(isGrouped ? { group: { id } } : {}) };
}

// A process of another configuration in the same database may have another target of this name.
function queuedServer(target: string, { servers }: Servers): Pick<QueuedPass, "server"> {
  const server = servers.get(target);
  return server === undefined ? {} : { server };
}

// However many machines ask, one pass begins in each interval.
async function askOnInterval(
  boss: PgBoss,
  target: string,
  { intervalMs, signal, jitter = () => 1 }: WorkTimes,
  { clock, onTrouble, servers }: FleetQueueOptions,
): Promise<void> {
  const seconds = Math.max(1, Math.round(intervalMs / 1000));
  const once = { singletonSeconds: seconds, deleteAfterSeconds: 2 * seconds + 60 };
  const throttled = { ...sendOptions(target, { servers }), ...once };
  await ask(boss, { target, scope: "changes", cause: "start" }, { servers }).catch(onTrouble);
  while (!signal.aborted) {
    await clock.sleep(Math.round(intervalMs * jitter()), { signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (signal.aborted) return;
    const job: QueuedPass = { target, scope: "changes", cause: "interval", ...queuedServer(target, { servers }) };
    await boss.send(QUEUE, job, throttled).catch(onTrouble);
  }
}

/** A pass in the queue, with its control plane, and how often in a row it was cut short. */
type QueuedPass = PassJob & { readonly server?: string; readonly losses?: number };

type Worker = FleetQueueOptions & { readonly boss: PgBoss; readonly lanes: ReadonlyMap<string, Lane> };

async function runJob(
  queued: JobWithMetadata<QueuedPass>,
  { boss, lanes, servers, clock, onTrouble }: Worker,
): Promise<void> {
  const { data, retryCount, createdOn } = queued;
  const { losses = 0, server, ...job } = data;
  const lane = lanes.get(job.target);
  const isOwn = lane !== undefined && server === servers.get(job.target);
  const isOld = retryCount > UNWATCHED_TRIES && clock.now() - createdOn.getTime() > UNWATCHED_MS;
  // No machine has a configuration with this target any more. Where one has, and was busy for so long, it asks again.
  if (!isOwn && isOld) return;
  // Another machine has read a configuration with this target, or this one has stopped.
  if (!isOwn || lane.running === null) throw new NotNowError(`this process does not watch ${job.target}`);
  const { pass, times, fail } = lane.running;
  const due = new AbortController();
  using _interval = clock.after(times.intervalMs, () => due.abort());
  using _checks = clock.every(QUEUED_CHECK_MS, () => void endWaitingForOthers(boss, due).catch(onTrouble));
  try {
    await lane.inTurn.add(() => pass({ job, stopWaiting: due.signal }));
  } catch (error) {
    if (!(error instanceof NotNowError)) fail(error);
    if (!(error instanceof CutShortError) || times.signal.aborted) throw error;
    await tryLater(boss, queued, { losses: losses + 1, times });
  }
  // What was stopped in the middle goes on elsewhere.
  if (times.signal.aborted) throw new NotNowError("the process stops");
}

// The control plane is asked again after a while: the same may happen to whoever asks it next.
async function tryLater(
  boss: PgBoss,
  { id, retryCount, data }: JobWithMetadata<QueuedPass>,
  { losses, times }: { readonly losses: number; readonly times: WorkTimes },
): Promise<void> {
  await boss.fail(QUEUE, { id, retryCount });
  const startAfter = Math.round(waitAfterLoss(losses, times.intervalMs) / 1000);
  await boss.update(QUEUE, { ...data, losses }, { id, startAfter });
}

// A pass that only waits for rollouts leaves its place to one that waits for a worker.
async function endWaitingForOthers(boss: PgBoss, due: AbortController): Promise<void> {
  const waiting = await boss.findJobs(QUEUE, { queued: true, limit: 1 });
  if (waiting.length > 0) due.abort();
}

async function jobEnded(boss: PgBoss, id: string, clock: Clock): Promise<void> {
  for (;;) {
    const [job] = await boss.findJobs(QUEUE, { id });
    if (job === undefined || !["created", "retry", "active"].includes(job.state)) return;
    await clock.sleep(ENDED_CHECK_MS, { ref: false });
  }
}
