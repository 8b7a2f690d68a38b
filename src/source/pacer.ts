import { setImmediate } from "node:timers/promises";

/** How long work may block the event loop before it yields. */
const SHARE_MS = 25;

/** Yields to the event loop if enough time has passed since the last time; throws if the signal is aborted. */
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
