import PQueue from "p-queue";
import type { JobWithMetadata, PgBoss } from "pg-boss";
import type { Clock } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { type Interval, intervalOf, openLaterPasses } from "./fleet-interval.ts";
import {
  askForPass,
  endsOfJobs,
  jobsError,
  openJobs,
  PASSES,
  passRequest,
  type QueuedPass,
  type Servers,
} from "./fleet-jobs.ts";
import {
  type DuePass,
  machineName,
  NotNowError,
  type PassAgain,
  type PassJob,
  type PassQueue,
  type WorkTimes,
} from "./pass-queue.ts";

const RENEWAL_S = 2;
const ASKED_AGAIN_MS = 1000;
const UNWATCHED_TRIES = 30;
const UNWATCHED_MS = 600_000;
const QUEUED_CHECK_MS = 1000;
const STOP_MS = 5000;
// A pass that was cut short here is left to the other processes for five seconds, since these may still reach what this one does not.
const MOST_LEFT = 5;
const LEFT_S = 1;

/** The queue of the passes of a fleet, in PostgreSQL. */
export type FleetQueueOptions = {
  readonly address: Secret;
  /** How many passes run at once in this process, over all targets. */
  readonly workers: number;
  readonly servers: Servers;
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
  const { clock, servers } = options;
  const boss = await openJobs(options.address, onTrouble);
  const later = await openLaterPasses(boss).catch((error: unknown) => {
    throw jobsError(options.address, error);
  });
  const ended = new AbortController();
  const waiting = new Set<string>();
  const untilAsked = async (what: string, askOnce: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        await askOnce();
        return;
      } catch (error) {
        onTrouble(error);
      }
      // The same is asked for again already.
      if (waiting.has(what)) return;
      waiting.add(what);
      await clock.sleep(ASKED_AGAIN_MS, { signal: ended.signal }).catch(() => {});
      waiting.delete(what);
      if (ended.signal.aborted) return;
    }
  };
  const enqueue = (job: PassJob): Promise<void> =>
    untilAsked(JSON.stringify([job.target, job.scope]), () => askForPass(boss, passRequest(job, servers)));
  const lanes = new Map<string, Lane>();
  await boss.work(
    PASSES,
    {
      localConcurrency: options.workers,
      // A control plane that is slow never occupies all workers of a process.
      localGroupConcurrency: Math.max(1, options.workers - 1),
      pollingIntervalSeconds: 1,
      notifyPollingIntervalSeconds: 1,
      // A worker that is free goes on at once while passes wait.
      burstWhenReadyExceeds: 1,
      heartbeatRefreshSeconds: RENEWAL_S,
      includeMetadata: true,
    },
    async ([job]: JobWithMetadata<QueuedPass>[]) => {
      told.clear();
      if (job !== undefined) await runJob(job, { boss, lanes, ...options });
    },
  );
  const jobEnded = endsOfJobs(boss, clock);
  const laneOf = (target: string): Lane => {
    const lane = lanes.get(target) ?? { running: null, inTurn: new PQueue({ concurrency: 1 }) };
    lanes.set(target, lane);
    return lane;
  };
  return {
    machine: machineName,
    enqueue: (job) => void enqueue(job),
    enqueueAfter: (job, ms) => {
      const at = clock.monotonic() + ms;
      const request = passRequest(job, servers);
      const askAfter = (): Promise<void> => later.askAfter(request, Math.max(0, at - clock.monotonic()));
      void untilAsked(JSON.stringify([job.target, job.cause, "later"]), askAfter);
    },
    between: (target, command) => laneOf(target).inTurn.add(command),
    passed: async (job) => {
      try {
        for (const id of await askForPass(boss, passRequest(job, servers))) await jobEnded(id);
      } catch (error) {
        throw jobsError(options.address, error);
      }
    },
    work: async (target, pass, times) => {
      const lane = laneOf(target);
      const failed = Promise.withResolvers<never>();
      const interval = intervalOf(target, times, { boss, later, ...options });
      lane.running = { pass, times, interval, fail: failed.reject };
      void enqueue({ target, scope: "changes", cause: "start" });
      try {
        await Promise.race([interval.watch(), failed.promise]);
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
  readonly pass: (due: DuePass) => Promise<PassAgain | null>;
  readonly times: WorkTimes;
  readonly interval: Interval;
  /** Ends the work on the target for good. */
  readonly fail: (error: unknown) => void;
};

type Worker = FleetQueueOptions & { readonly boss: PgBoss; readonly lanes: ReadonlyMap<string, Lane> };

async function runJob(
  queued: JobWithMetadata<QueuedPass>,
  { boss, lanes, servers, clock, onTrouble }: Worker,
): Promise<void> {
  const { data, retryCount, createdOn } = queued;
  const { losses = 0, server, cutShortIn, left = 0, ...job } = data;
  const lane = lanes.get(job.target);
  const isOwn = lane !== undefined && server === servers.get(job.target);
  const isOld = retryCount > UNWATCHED_TRIES && clock.now() - createdOn.getTime() > UNWATCHED_MS;
  // No machine has a configuration with this target any more. Where one has, and was busy for so long, it asks again.
  if (!isOwn && isOld) return void (await boss.cancel(PASSES, { id: queued.id, retryCount }));
  // Another machine has read a configuration with this target, or this one has stopped.
  if (!isOwn || lane.running === null) throw new NotNowError(`this process does not watch ${job.target}`);
  const { pass, times, interval, fail } = lane.running;
  if (cutShortIn === machineName && left < MOST_LEFT)
    return tryLater(boss, queued, { ...data, left: left + 1 }, LEFT_S);
  const due = new AbortController();
  using _interval = clock.after(times.intervalMs, () => due.abort());
  using _checks = clock.every(QUEUED_CHECK_MS, () => void endWaitingForOthers(boss, due).catch(onTrouble));
  const again = await lane.inTurn
    .add(() => pass({ job, losses, stopWaiting: due.signal }))
    .catch((error: unknown) => {
      if (!(error instanceof NotNowError)) fail(error);
      throw error;
    });
  // What was stopped in the middle goes on elsewhere.
  if (times.signal.aborted) throw new NotNowError("the process stops");
  if (again === null) return interval.passEnded();
  const pending = { ...data, losses: again.losses, cutShortIn: machineName, left: 0 };
  await tryLater(boss, queued, pending, Math.round(again.afterMs / 1000));
}

// The control plane is asked again after a while: the same may happen to whoever asks it next.
async function tryLater(
  boss: PgBoss,
  { id, retryCount }: JobWithMetadata<QueuedPass>,
  pass: QueuedPass,
  startAfter: number,
): Promise<void> {
  await boss.fail(PASSES, { id, retryCount });
  await boss.update(PASSES, pass, { id, startAfter });
}

// A pass that only waits for rollouts leaves its place to one that waits for a worker.
async function endWaitingForOthers(boss: PgBoss, due: AbortController): Promise<void> {
  const waiting = await boss.findJobs(PASSES, { queued: true, limit: 1 });
  if (waiting.length > 0) due.abort();
}
