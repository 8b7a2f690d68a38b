import { setTimeout as wait } from "node:timers/promises";

/** Wakes a loop up; it says "look again", never what changed. */
export type Trigger = { readonly ring: () => void; readonly rung: () => Promise<void> };

/** A trigger that remembers a ring until somebody has waited for it: rings in between collapse into one. */
export function createTrigger(): Trigger {
  let next = Promise.withResolvers<void>();
  return {
    ring: () => next.resolve(),
    rung: async () => {
      await next.promise;
      next = Promise.withResolvers<void>();
    },
  };
}

/** Repeats a pass until stopped: when the trigger rings, and at the latest after the interval. */
export async function loop(
  pass: () => Promise<void>,
  {
    trigger,
    intervalMs,
    signal,
  }: { readonly trigger: Trigger; readonly intervalMs: number; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await pass();
    const woken = new AbortController();
    const either = AbortSignal.any([signal, woken.signal]);
    await Promise.race([trigger.rung(), rest(intervalMs, either), aborted(either)]);
    woken.abort();
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
