import type { PgBoss } from "pg-boss";
import type { Clock } from "../clock/clock.ts";
import {
  askForPass,
  PASSES,
  type PassRequest,
  passRequest,
  type Servers,
  setUpQueue,
  UNTIL_DONE,
} from "./fleet-jobs.ts";
import type { WorkTimes } from "./pass-queue.ts";

/** The queue of the passes to ask for at a later time. */
export const LATER = "later-passes";

const OPTIONS = {
  // One waiting job of each target and cause.
  policy: "short",
  deleteAfterSeconds: 60,
  ...UNTIL_DONE,
} as const;

const BATCH = 100;
const LOOKED_AGAIN_MS = 1000;

/** A pass that is later than this is asked for by each process that notices it. */
const LATE_MS = 5000;

/** The passes of a fleet that are to be asked for later. They are in the database, so that any process asks for them then. */
export type LaterPasses = {
  /** Asks for a pass after that time, in place of the one that was asked for so with the same cause. */
  readonly askAfter: (request: PassRequest, ms: number) => Promise<void>;
  /** The time by the database when such a pass is to be asked for; null if none is. */
  readonly dueAt: (request: PassRequest) => Promise<number | null>;
};

/** Opens the queue of later passes, which this process works on too. */
export async function openLaterPasses(boss: PgBoss): Promise<LaterPasses> {
  await setUpQueue(boss, LATER, OPTIONS);
  await boss.work<PassRequest>(
    LATER,
    { pollingIntervalSeconds: 1, batchSize: BATCH, heartbeatRefreshSeconds: 2 },
    async (jobs) => {
      for (const { data } of jobs) await askForPass(boss, data);
    },
  );
  return {
    askAfter: async (request, ms) => {
      await boss.upsert(LATER, request, { singletonKey: keyOf(request), match: "all", startAfter: ms / 1000 });
    },
    dueAt: async (request) => {
      const [next] = await boss.findJobs(LATER, { key: keyOf(request), queued: true });
      return next?.startAfter.getTime() ?? null;
    },
  };
}

function keyOf({ pass, options }: PassRequest): string {
  return JSON.stringify([options.singletonKey, pass.cause]);
}

/** The interval of a target, as this process knows it. */
export type Interval = {
  /** To be called at the end of each pass here: the next one begins an interval later, in whichever process. */
  readonly passEnded: () => Promise<void>;
  /** Asks for passes that are overdue, until the signal is aborted. */
  readonly watch: () => Promise<void>;
};

/**
 * Keeps the interval of a target. The time of the next pass is in the database, by its clock. Where that clock is set back,
 * or the time is lost, processes find by their own clocks that it has been the same for too long.
 */
export function intervalOf(
  target: string,
  { intervalMs, jitter = () => 1, signal }: WorkTimes,
  {
    boss,
    later,
    servers,
    clock,
    onTrouble,
  }: {
    readonly boss: PgBoss;
    readonly later: LaterPasses;
    readonly servers: Servers;
    readonly clock: Clock;
    readonly onTrouble: (error: unknown) => void;
  },
): Interval {
  const request = passRequest({ target, scope: "changes", cause: "interval" }, servers);
  const { singletonKey } = request.options;
  // Undefined until it was looked for.
  let dueAt: number | null | undefined;
  let seenAt = clock.monotonic();
  const look = async (): Promise<void> => {
    const before = dueAt;
    const askedAt = clock.monotonic();
    dueAt = await later.dueAt(request);
    const isOverdue = before !== undefined && (dueAt === null || dueAt === before);
    if (isOverdue && !(await isRunning(boss, singletonKey))) {
      // A clock that was set back delays also what waits already.
      const { updated } = await boss.update({
        name: PASSES,
        options: { singletonKey, match: "all", startAfter: 0 },
      });
      if (updated === 0) await askForPass(boss, request);
    }
    seenAt = askedAt;
  };
  return {
    passEnded: async () => {
      await later.askAfter(request, Math.round(intervalMs * jitter()));
      dueAt = await later.dueAt(request);
      seenAt = clock.monotonic();
    },
    watch: async () => {
      while (!signal.aborted) {
        const waitMs = seenAt + intervalMs + LATE_MS - clock.monotonic();
        const isFailed = waitMs > 0 ? false : await look().then(() => false, failed(onTrouble));
        const ms = isFailed ? LOOKED_AGAIN_MS : Math.max(0, waitMs);
        await clock.sleep(ms, { signal }).catch((error: unknown) => {
          if (!signal.aborted) throw error;
        });
      }
    },
  };
}

function failed(onTrouble: (error: unknown) => void): (error: unknown) => boolean {
  return (error) => {
    onTrouble(error);
    return true;
  };
}

async function isRunning(boss: PgBoss, key: string): Promise<boolean> {
  return (await boss.findJobs(PASSES, { key })).some(({ state }) => state === "active");
}
