import type { Clock } from "../clock/clock.ts";
import type { RequestLimits } from "../core/request-shares.ts";

/** Delays requests so that all connections that share it stay within its limits together. */
export type RequestLimit = {
  /** Calls `begin` once a request may begin, with what is to be called when the request has ended. */
  readonly wait: (begin: (end: () => void) => void) => void;
};

/** Decides when a request may begin. */
export type RequestTurns = {
  /** Whether one of so many waiting requests may begin now, which then has begun; if not, `onTurn` is called when one may. */
  readonly begin: (waiting: number) => boolean;
  /** Called when a request has ended. */
  readonly end: () => void;
};

/** How late a timer may be without fewer requests for it. */
export const LATE_MS = 10;

/** A request begins no later after its turn, as where this process was suspended: many that did would exceed the limit together. */
export const MOST_LATE_MS = 100;

/** Creates the limit of one control plane. */
export function createRequestLimit(turnsOf: (onTurn: () => void) => RequestTurns): RequestLimit {
  const waiting: (() => void)[] = [];
  let isBeginning = false;
  const beginMore = (): void => {
    // A request that ends at once makes room within this loop.
    if (isBeginning) return;
    isBeginning = true;
    try {
      while (waiting.length > 0 && turns.begin(waiting.length)) waiting.shift()?.();
    } finally {
      isBeginning = false;
    }
  };
  const turns = turnsOf(beginMore);
  const end = (): void => {
    turns.end();
    beginMore();
  };
  return {
    wait: (begin) => {
      waiting.push(() => begin(end));
      beginMore();
    },
  };
}

/** The turns of a process that shares the limits with no other one. */
export function ownTurns(
  { concurrency, requestsPerSecond }: RequestLimits,
  { monotonic, after }: Clock,
): (onTurn: () => void) => RequestTurns {
  const most = concurrency ?? Number.POSITIVE_INFINITY;
  // Evenly spaced, so that no second of any phase has more of them.
  const spacingMs = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond;
  let inFlight = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let isTimed = false;
  return (onTurn) => ({
    begin: () => {
      if (isTimed || inFlight >= most) return false;
      const now = monotonic();
      if (now < nextAt) {
        isTimed = true;
        after(nextAt - now, () => {
          isTimed = false;
          onTurn();
        });
        return false;
      }
      nextAt = Math.max(nextAt, now - LATE_MS) + spacingMs;
      inFlight += 1;
      return true;
    },
    end: () => {
      inFlight -= 1;
    },
  });
}
