import { setTimeout as wait } from "node:timers/promises";
import type { PassScope } from "../engine/passes/apply-pass.ts";

type Stop = { readonly signal: AbortSignal };

/** What made a pass begin. */
export type PassCause = "start" | "interval" | "change" | "webhook" | "signal" | "request" | "configuration" | "retry";

/** Wakes a loop up; it says "look again", never what changed. */
export type Trigger = {
  readonly ring: (cause: PassCause) => void;
  /** The same, where only the source may have moved. */
  readonly ringForChanges: (cause: PassCause) => void;
  /** What rang first since the last call; null where nothing did. */
  readonly takeCause: () => PassCause | null;
  /** What the rings since the last call were for; null where there were none. */
  readonly takeScope: () => PassScope | null;
  /** Aborted at the next ring that is not waited for yet. */
  readonly bell: () => AbortSignal;
  /** Resolves at the next ring, at once when one was not waited for yet, or when the signal is aborted. */
  readonly rung: (stop: Stop) => Promise<void>;
};

/** A trigger that remembers a ring until somebody has waited for it: rings in between collapse into one. */
export function createTrigger(): Trigger {
  let bell = new AbortController();
  let scope: PassScope | null = null;
  let cause: PassCause | null = null;
  return {
    ring: (by) => {
      cause ??= by;
      scope = "all";
      bell.abort();
    },
    ringForChanges: (by) => {
      cause ??= by;
      scope ??= "changes";
      bell.abort();
    },
    takeCause: () => {
      const taken = cause;
      cause = null;
      return taken;
    },
    takeScope: () => {
      const taken = scope;
      scope = null;
      return taken;
    },
    bell: () => bell.signal,
    rung: async ({ signal }) => {
      const either = AbortSignal.any([bell.signal, signal]);
      await new Promise<void>((resolve) => {
        if (either.aborted) resolve();
        either.addEventListener("abort", () => resolve(), { once: true });
      });
      bell = new AbortController();
    },
  };
}

/** When a loop makes its passes. */
export type LoopOptions = {
  readonly trigger: Trigger;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  /** A factor of the interval, so that many daemons do not ask at the same moment. @default none */
  readonly jitter?: () => number;
};

/**
 * Repeats a pass until stopped: when the trigger rings, and at the latest after the interval. A pass is told by `stopWaiting`
 * that the next one is due.
 */
export async function loop(
  pass: (due: { readonly stopWaiting: AbortSignal }) => Promise<void>,
  { trigger, intervalMs, signal, jitter = () => 1 }: LoopOptions,
): Promise<void> {
  while (!signal.aborted) {
    const dueMs = Math.round(intervalMs * jitter());
    const due = new AbortController();
    // `AbortSignal.timeout` would be held until the interval is over, however many passes there are in it.
    const timer = setTimeout(() => due.abort(), dueMs);
    await pass({ stopWaiting: AbortSignal.any([trigger.bell(), due.signal]) }).finally(() => clearTimeout(timer));
    const woken = new AbortController();
    const either = { signal: AbortSignal.any([signal, woken.signal]) };
    const rung = trigger.rung(either);
    await Promise.race([rung, rest(dueMs, either)]);
    woken.abort();
    await rung;
  }
}

async function rest(ms: number, { signal }: Stop): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
