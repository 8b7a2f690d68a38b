const FIRST = 200;
const LONGEST = 5_000;

/** Milliseconds to wait before try `attempt` + 1: exponential with full jitter, `random` within 0 … 1. */
export function backoff(attempt: number, random: number): number {
  return Math.round(random * Math.min(LONGEST, FIRST * 2 ** Math.min(attempt - 1, 10)));
}
