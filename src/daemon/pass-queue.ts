import { hostname } from "node:os";
import PQueue from "p-queue";
import { backoff } from "../clock/backoff.ts";
import type { Clock, Stop } from "../clock/clock.ts";
import type { PassScope } from "../engine/passes/apply-pass.ts";

/** The possible causes of a pass. */
export const passCauses = [
  "start",
  "interval",
  "change",
  "webhook",
  "signal",
  "request",
  "configuration",
  "retry",
  "window",
] as const;

/** The cause of a pass. */
export type PassCause = (typeof passCauses)[number];

/** A pass to run: over which target, how much of it, and why. It never says what has changed. */
export type PassJob = {
  readonly target: string;
  readonly scope: PassScope;
  readonly cause: PassCause;
  /** The person who asked for it on the dashboard; absent where nobody did. */
  readonly by?: string;
};

/** The name of this process among those of a fleet. */
export const machineName = `${hostname()}/${process.pid}`;

/** Orders the passes of a daemon: of each target, one pass or command runs at a time. */
export type PassQueue = AsyncDisposable & {
  /** The name of this process among those that run passes of the same targets; null where no other one does. */
  readonly machine: string | null;
  /** Asks for a pass. All that are asked for before it begins become one, with the first cause and the widest scope. */
  readonly enqueue: (job: PassJob) => void;
  /** Asks for a pass after that time, in milliseconds, in place of the one that was asked for so with the same cause. */
  readonly enqueueAfter: (job: PassJob, ms: number) => void;
  /** Runs a target's passes until the signal is aborted: the first at once, then when one is asked for or the interval ends. */
  readonly work: (target: string, pass: (due: DuePass) => Promise<PassAgain | null>, times: WorkTimes) => Promise<void>;
  /** Asks for a pass; resolves when one that began after this call has ended. */
  readonly passed: (job: PassJob) => Promise<void>;
  /** Runs a command on a target between two of its passes. */
  readonly between: <Result>(target: string, command: () => Promise<Result>) => Promise<Result>;
};

/** A pass that begins. */
export type DuePass = {
  /** What was asked for; null if nothing was, and the interval has ended. */
  readonly job: PassJob | null;
  /** Aborted when the next pass is due. */
  readonly stopWaiting: AbortSignal;
  /** How often in a row it was cut short before, here or in other processes; what is asked for begins with none. */
  readonly losses: number;
};

/**
 * What a pass says that is made again before its interval ends: it could not read or send all that it wanted to. Where the queue
 * is shared, another process may make it.
 */
export type PassAgain = {
  readonly afterMs: number;
  /** How often in a row it was cut short, this time included. */
  readonly losses: number;
};

/** Why a pass could not begin now; where the queue is shared, it tries the pass again, perhaps on another machine. */
export class NotNowError extends Error {
  override readonly name = "NotNowError";
}

/** The wait before a pass that was cut short so often in a row, in milliseconds. */
export function waitAfterLoss(times: number, intervalMs: number): number {
  return backoff(times, { first: FIRST_WAIT_MS, most: Math.max(FIRST_WAIT_MS, Math.min(intervalMs, MOST_WAIT_MS)) });
}

const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

/** When the passes of a target begin without being asked for, and when they end. */
export type WorkTimes = Stop & {
  readonly intervalMs: number;
  /** Returns a factor for the interval, so that many daemons do not poll at the same moment. @default () => 1 */
  readonly jitter?: () => number;
};

/** Creates a queue of passes in memory, for one process. */
export function createPassQueue({
  clock,
  atOnce = Number.POSITIVE_INFINITY,
}: {
  readonly clock: Clock;
  /** How many passes and commands run at once, over all targets. @default Infinity */
  readonly atOnce?: number;
}): PassQueue {
  const all = new PQueue({ concurrency: atOnce });
  const lanes = new Map<string, Lane>();
  const laneOf = (target: string): Lane => {
    const lane = lanes.get(target) ?? {
      ...{ asked: createAsked(), inTurn: new PQueue({ concurrency: 1 }), waiting: [], later: new Map() },
    };
    lanes.set(target, lane);
    return lane;
  };
  const between: PassQueue["between"] = (target, command) => laneOf(target).inTurn.add(() => all.add(command));
  const enqueue = (job: PassJob): void => laneOf(job.target).asked.add(job);
  return {
    machine: null,
    [Symbol.asyncDispose]: async () => {},
    between,
    enqueue,
    enqueueAfter: (job, ms) => {
      const { later } = laneOf(job.target);
      later.get(job.cause)?.[Symbol.dispose]();
      later.set(
        job.cause,
        clock.after(ms, () => enqueue(job)),
      );
    },
    passed: (job) =>
      new Promise((resolve) => {
        laneOf(job.target).waiting.push(resolve);
        enqueue(job);
      }),
    work: async (target, pass, { intervalMs, signal, jitter = () => 1 }) => {
      const { asked, waiting, later } = laneOf(target);
      using timers = new DisposableStack();
      timers.defer(() => {
        for (const timer of later.values()) timer[Symbol.dispose]();
      });
      let again: PassAgain | null = null;
      while (!signal.aborted) {
        const dueMs = Math.round(intervalMs * jitter());
        const due = new AbortController();
        {
          // A signal of `clock.timeout` would stay in memory until the interval ends, one for each pass that is asked for.
          using _ = clock.after(dueMs, () => due.abort());
          const stopWaiting = AbortSignal.any([asked.pending(), due.signal]);
          const before: PassAgain | null = again;
          again = await between(target, async () => {
            const ended = waiting.splice(0);
            const end = await pass({ ...nextPass(target, asked.take(), before), stopWaiting });
            for (const resolve of ended) resolve();
            return end;
          });
        }
        const woken = new AbortController();
        const either = { signal: AbortSignal.any([signal, woken.signal]) };
        const next = asked.next(either);
        await Promise.race([next, rest(clock, again?.afterMs ?? dueMs, either)]);
        woken.abort();
        await next;
      }
    },
  };
}

function nextPass(target: string, asked: PassJob | null, again: PassAgain | null): Pick<DuePass, "job" | "losses"> {
  if (asked !== null || again === null) return { job: asked, losses: 0 };
  return { job: { target, scope: "all", cause: "retry" }, losses: again.losses };
}

type Lane = {
  readonly asked: Asked;
  readonly inTurn: PQueue;
  /** Those who wait for the end of the pass that begins next. */
  readonly waiting: (() => void)[];
  /** The passes that are asked for later. */
  readonly later: Map<PassCause, Disposable>;
};

/** The pass that a target was asked for. */
type Asked = {
  readonly add: (job: PassJob) => void;
  /** The pass that was asked for since the last call; null if none was. */
  readonly take: () => PassJob | null;
  /** Aborted when a pass is asked for, until `next` has been waited for. */
  readonly pending: () => AbortSignal;
  /** Resolves when a pass is asked for (at once if one was since the last wait), or when the signal is aborted. */
  readonly next: (stop: Stop) => Promise<void>;
};

function createAsked(): Asked {
  let pending = new AbortController();
  let asked: PassJob | null = null;
  return {
    add: (job) => {
      const scope = asked?.scope === "all" ? "all" : job.scope;
      asked = { ...job, ...asked, scope };
      pending.abort();
    },
    take: () => {
      const taken = asked;
      asked = null;
      return taken;
    },
    pending: () => pending.signal,
    next: async ({ signal }) => {
      const either = AbortSignal.any([pending.signal, signal]);
      await new Promise<void>((resolve) => {
        if (either.aborted) resolve();
        either.addEventListener("abort", () => resolve(), { once: true });
      });
      pending = new AbortController();
    },
  };
}

async function rest(clock: Clock, ms: number, { signal }: Stop): Promise<void> {
  await clock.sleep(ms, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
