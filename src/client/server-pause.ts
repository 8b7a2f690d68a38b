import type { Clock } from "../clock/clock.ts";
import type { Refusal } from "./refusal.ts";

/** A pause that the server requested. */
export type Closed = {
  /** The end of the pause, on the monotonic clock. */
  readonly until: number;
  readonly refusal: Refusal;
};

/** The pause of one server, which every call to it respects. */
export type ServerPause = {
  readonly pause: (milliseconds: number, refusal: Refusal) => void;
  /** The current pause; null if there is none. */
  readonly closed: () => Closed | null;
};

// The longest pause, even if the server requests a longer one.
const MAX_PAUSE_MS = 15 * 60_000;

/** Creates the pause of one server on the given clock. A longer pause replaces a shorter one, never the reverse. */
export function createServerPause(clock: Clock): ServerPause {
  let last: Closed | null = null;
  return {
    pause: (milliseconds, refusal) => {
      const until = clock.monotonic() + Math.min(milliseconds, MAX_PAUSE_MS);
      if (last === null || until > last.until) last = { until, refusal };
    },
    closed: () => (last !== null && clock.monotonic() < last.until ? last : null),
  };
}
