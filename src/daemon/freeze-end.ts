import type { Clock } from "../clock/clock.ts";
import type { FreezeSchedule } from "../core/guards/freeze-windows.ts";

/** The end of the freeze of a target, which is a time of its own: the interval may reach it much later. */
export type FreezeEnd = Disposable & {
  /** Starts a pass when the freeze of this moment ends, and returns that time; infinite where there is none. */
  readonly wait: () => number;
};

/** Waits for the ends of freezes; `onEnd` is called at each. */
export function freezeEndOf(
  freezes: FreezeSchedule | undefined,
  { clock, onEnd }: { readonly clock: Clock; readonly onEnd: () => void },
): FreezeEnd {
  let timer: Disposable | null = null;
  const stop = (): void => timer?.[Symbol.dispose]();
  return {
    wait: () => {
      stop();
      const now = clock.now();
      const until = freezes?.at(now)?.until ?? null;
      // The interval is shorter than the longest timer, so a later pass waits for what is further away.
      if (until === null || until - now > MAX_TIMER_MS) return Number.POSITIVE_INFINITY;
      timer = clock.after(until - now, onEnd);
      return until;
    },
    [Symbol.dispose]: stop,
  };
}

const MAX_TIMER_MS = 2 ** 31 - 1;
