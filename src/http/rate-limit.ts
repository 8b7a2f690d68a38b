/** Counts one more request of a caller; returns 0 when it is allowed, else the seconds to wait. */
export type RateLimit = (caller: string) => number;

/** Allows each caller `perSecond` requests per second, in bursts of up to the same number; `now` is in milliseconds. */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  const burst = Math.max(1, perSecond);
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>();
  const tokensAt = (caller: string, moment: number) => {
    const known = buckets.get(caller);
    return known === undefined ? burst : Math.min(burst, known.tokens + ((moment - known.at) / 1000) * perSecond);
  };
  // A caller whose burst is full again need not be stored. Callers are ordered by their last request, so the loop ends
  // at the first one whose burst is not full.
  const deleteIdle = (moment: number) => {
    for (const caller of buckets.keys()) {
      if (tokensAt(caller, moment) < burst) return;
      buckets.delete(caller);
    }
  };
  return (caller) => {
    const moment = now();
    const tokens = tokensAt(caller, moment);
    if (tokens < 1) return (1 - tokens) / perSecond;
    // Deleted and set again, so that callers are ordered by their last request.
    buckets.delete(caller);
    deleteIdle(moment);
    buckets.set(caller, { tokens: tokens - 1, at: moment });
    return 0;
  };
}
