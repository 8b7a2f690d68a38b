import type { Clock } from "./clock.ts";
import type { Refusal } from "./refusal.ts";

/** What a server said when it asked for a pause. */
export type Closed = {
  /** When it may be asked again, on the clock that only goes forward. */
  readonly until: number;
  readonly refusal: Refusal;
};

/** The pause that a server asked for, which every call to it keeps. */
export type ServerPause = {
  readonly pause: (milliseconds: number, refusal: Refusal) => void;
  /** What the server asked for; null while nothing is paused. */
  readonly closed: () => Closed | null;
};

// Whatever a server asks for, it is asked again after this time.
const MAX_PAUSE_MS = 15 * 60_000;

/** The pause of one server, on the given clock; a longer pause replaces a shorter one, never the other way round. */
export function createServerPause(clock: Clock): ServerPause {
  let last: Closed | null = null;
  return {
    pause: (milliseconds, refusal) => {
      const until = clock.now() + Math.min(milliseconds, MAX_PAUSE_MS);
      if (last === null || until > last.until) last = { until, refusal };
    },
    closed: () => (last !== null && clock.now() < last.until ? last : null),
  };
}
