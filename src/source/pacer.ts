import { setImmediate } from "node:timers/promises";

/** How long work may block the event loop before it yields. */
const SHARE_MS = 25;
/** How many steps may follow each other: on a machine that is busy the clock says little of the work that was done. */
const SHARE_STEPS = 2000;

/**
 * Yields to the event loop when enough steps were made or enough time has passed since the last time; throws if the signal
 * is aborted. Called after each step, which takes microseconds.
 */
export function pacer(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  let steps = 0;
  return () => {
    steps += 1;
    if (steps < SHARE_STEPS && performance.now() - since < SHARE_MS) return undefined;
    return setImmediate().then(() => {
      signal.throwIfAborted();
      since = performance.now();
      steps = 0;
    });
  };
}
