import type { Clock } from "../clock/clock.ts";

/** How long work may block the event loop before it yields. */
const SHARE_MS = 25;
/** How many steps may follow each other: on a machine that is busy the clock says little of the work that was done. */
const SHARE_STEPS = 2000;

/** The clock by which work yields, and the signal that stops it. */
export type Pace = { readonly clock: Clock; readonly signal: AbortSignal };

/**
 * Yields to the event loop when enough steps were made or enough time has passed since the last time; throws if the signal
 * is aborted. Called after each step, which takes microseconds.
 */
export function pacer({ clock, signal }: Pace): () => Promise<void> | undefined {
  let since = clock.monotonic();
  let steps = 0;
  return () => {
    steps += 1;
    if (steps < SHARE_STEPS && clock.monotonic() - since < SHARE_MS) return undefined;
    return clock.turn().then(() => {
      signal.throwIfAborted();
      since = clock.monotonic();
      steps = 0;
    });
  };
}
