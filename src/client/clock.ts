import { setTimeout as delay } from "node:timers/promises";

/** Time as the client sees it; tests bring their own. */
export type Clock = {
  /** Monotonic milliseconds: a changed wall clock moves no deadline. */
  readonly now: () => number;
  /** Epoch milliseconds, used only where a reply carries no date of its own. */
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
