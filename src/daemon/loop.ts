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
] as const;

/** The cause of a pass. */
export type PassCause = (typeof passCauses)[number];

/** A pass to run: over which target, how much of it, and why. It never says what has changed. */
export type PassJob = { readonly target: string; readonly scope: PassScope; readonly cause: PassCause };

/** Starts the next pass of a loop; level-driven: it never says what has changed. */
export type Trigger = {
  readonly target: string;
  readonly fire: (cause: PassCause) => void;
  /** The same, for a cause that can only have changed the source. */
  readonly fireForChanges: (cause: PassCause) => void;
  /** The pass that was asked for since the last call, with the first cause and the widest scope; null if it was not fired. */
  readonly take: () => PassJob | null;
  /** Aborted when it is fired, until `nextFired` has been waited for. */
  readonly pending: () => AbortSignal;
  /** Resolves when it is fired (at once if it was fired since the last wait), or when the signal is aborted. */
  readonly nextFired: (stop: Stop) => Promise<void>;
};

/** Creates the trigger of a target. Firing it several times before it is waited for starts one pass. */
export function createTrigger(target: string): Trigger {
  let pending = new AbortController();
  let job: PassJob | null = null;
  const ask = (cause: PassCause, scope: PassScope): void => {
    job = { target, scope, cause: job?.cause ?? cause };
    pending.abort();
  };
  return {
    target,
    fire: (cause) => ask(cause, "all"),
    fireForChanges: (cause) => ask(cause, job?.scope ?? "changes"),
    take: () => {
      const taken = job;
      job = null;
      return taken;
    },
    pending: () => pending.signal,
    nextFired: async ({ signal }) => {
      const either = AbortSignal.any([pending.signal, signal]);
      await new Promise<void>((resolve) => {
        if (either.aborted) resolve();
        either.addEventListener("abort", () => resolve(), { once: true });
      });
      pending = new AbortController();
    },
  };
}

/** When a loop starts its passes, and when it ends. */
export type LoopOptions = {
  readonly clock: Clock;
  readonly trigger: Trigger;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  /** Returns a factor for the interval, so that many daemons do not poll at the same moment. @default () => 1 */
  readonly jitter?: () => number;
};

/**
 * Repeats a pass until the signal is aborted: when the trigger fires, and at the latest after the interval. `stopWaiting` is
 * aborted when the next pass is due.
 */
export async function loop(
  pass: (due: { readonly stopWaiting: AbortSignal }) => Promise<void>,
  { clock, trigger, intervalMs, signal, jitter = () => 1 }: LoopOptions,
): Promise<void> {
  while (!signal.aborted) {
    const dueMs = Math.round(intervalMs * jitter());
    const due = new AbortController();
    {
      // A signal of `clock.timeout` would stay in memory until the interval ends, one for each pass that a trigger starts.
      using _ = clock.after(dueMs, () => due.abort());
      await pass({ stopWaiting: AbortSignal.any([trigger.pending(), due.signal]) });
    }
    const woken = new AbortController();
    const either = { signal: AbortSignal.any([signal, woken.signal]) };
    const nextFired = trigger.nextFired(either);
    await Promise.race([nextFired, rest(clock, dueMs, either)]);
    woken.abort();
    await nextFired;
  }
}

async function rest(clock: Clock, ms: number, { signal }: Stop): Promise<void> {
  await clock.sleep(ms, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
