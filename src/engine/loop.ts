import { setTimeout as wait } from "node:timers/promises";

type Stop = { readonly signal: AbortSignal };

/** Wakes a loop up; it says "look again", never what changed. */
export type Trigger = {
  readonly ring: () => void;
  /** Resolves at the next ring, at once when one was not waited for yet, or when the signal is aborted. */
  readonly rung: (stop: Stop) => Promise<void>;
};

/** A trigger that remembers a ring until somebody has waited for it: rings in between collapse into one. */
export function createTrigger(): Trigger {
  let isRung = false;
  let wake = (): void => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    rung: async ({ signal }) => {
      if (!isRung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      isRung = false;
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
    const either = { signal: AbortSignal.any([signal, woken.signal]) };
    await Promise.race([trigger.rung(either), rest(intervalMs, either)]);
    woken.abort();
  }
}

async function rest(ms: number, { signal }: Stop): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
