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
  // Whoever has a whole burst again needs no memory. Those behind the first that has not wait for their turn, a burst at most.
  const forgetRested = (moment: number) => {
    for (const caller of callers.keys()) {
      if (leftAt(caller, moment) < burst) return;
      callers.delete(caller);
    }
  };
  return (caller) => {
    const moment = now();
    const left = leftAt(caller, moment);
    if (left < 1) return (1 - left) / perSecond;
    // Set anew, so that callers stand in the order of their last request.
    callers.delete(caller);
    forgetRested(moment);
    callers.set(caller, { left: left - 1, at: moment });
    return 0;
  };
}
