/** Counts one more request of a caller; returns 0 when it is allowed, else the seconds to wait. */
export type RateLimit = (caller: string) => number;

/** Allows every caller so many requests a second, in bursts of as many; `now` is in milliseconds. */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  const burst = Math.max(1, perSecond);
  const callers = new Map<string, { readonly left: number; readonly at: number }>();
  const leftAt = (caller: string, moment: number) => {
    const known = callers.get(caller);
    return known === undefined ? burst : Math.min(burst, known.left + ((moment - known.at) / 1000) * perSecond);
  };
  // A caller whose burst is full again need not be stored. Callers are ordered by their last request, so the loop ends
  // at the first one whose burst is not full.
  const deleteIdle = (moment: number) => {
    for (const caller of callers.keys()) {
      if (leftAt(caller, moment) < burst) return;
      callers.delete(caller);
    }
  };
  return (caller) => {
    const moment = now();
    const left = leftAt(caller, moment);
    if (left < 1) return (1 - left) / perSecond;
    // Deleted and set again, so that callers are ordered by their last request.
    callers.delete(caller);
    deleteIdle(moment);
    callers.set(caller, { left: left - 1, at: moment });
    return 0;
  };
}
