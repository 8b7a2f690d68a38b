import type { Clock } from "../clock/clock.ts";
import type { FreezeSchedule } from "../core/guards/freeze-windows.ts";
import type { PassQueue } from "./pass-queue.ts";

/**
 * Asks for a pass when the freeze of this moment ends, and returns that time; infinite where there is none. The interval may
 * reach that time much later.
 */
export function askAtFreezeEnd(
  freezes: FreezeSchedule | undefined,
  { clock, queue, target }: { readonly clock: Clock; readonly queue: PassQueue; readonly target: string },
): number {
  const now = clock.now();
  const until = freezes?.at(now)?.until ?? null;
  // The interval is shorter than the longest timer, so a later pass waits for what is further away.
  if (until === null || until - now > MAX_TIMER_MS) return Number.POSITIVE_INFINITY;
  queue.enqueueAfter({ target, scope: "all", cause: "window" }, until - now);
  return until;
}

const MAX_TIMER_MS = 2 ** 31 - 1;
