import { setTimeout as delay } from "node:timers/promises";

/** The client's source of time, replaceable in tests. */
export type Clock = {
  /** Monotonic milliseconds: a change of the wall clock moves no deadline. */
  readonly now: () => number;
  /** Epoch milliseconds, used only if a reply has no `Date` header. */
  readonly date: () => number;
  readonly wait: (milliseconds: number, options: { readonly signal: AbortSignal }) => Promise<void>;
};

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => Date.now(),
  wait: async (milliseconds, { signal }) => {
    await delay(milliseconds, undefined, { signal });
  },
};
