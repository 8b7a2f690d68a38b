import { setImmediate } from "node:timers/promises";

/** How long work may hold the event loop before others get their turn. */
const SHARE_MS = 25;

/** Gives the event loop its turn whenever enough time has passed since the last, and stops when the signal says so. */
export function pacer(signal: AbortSignal): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SHARE_MS) return undefined;
    return setImmediate().then(() => {
      signal.throwIfAborted();
      since = performance.now();
    });
  };
}
