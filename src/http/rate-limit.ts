// Whoever has not called for a while needs no memory.
const LARGEST = 10_000;

/** Asks for one more request of a caller; answers 0 when it may go on, else the seconds that it should wait. */
export type RateLimit = (caller: string) => number;

/** Lets every caller make so many requests a second, in bursts of as many; `now` is in milliseconds. */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  const burst = Math.max(1, perSecond);
  const callers = new Map<string, { readonly left: number; readonly at: number }>();
  const leftAt = (caller: string, moment: number) => {
    const known = callers.get(caller);
    return known === undefined ? burst : Math.min(burst, known.left + ((moment - known.at) / 1000) * perSecond);
  };
  return (caller) => {
    const moment = now();
    const left = leftAt(caller, moment);
    if (left < 1) return (1 - left) / perSecond;
    if (callers.size >= LARGEST) {
      for (const name of callers.keys()) if (leftAt(name, moment) >= burst) callers.delete(name);
    }
    callers.set(caller, { left: left - 1, at: moment });
    return 0;
  };
}
