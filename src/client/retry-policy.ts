import { backoff } from "../clock/backoff.ts";
import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Ambiguity, Tried } from "./call-outcome.ts";
import { isLasting, type Reachability } from "./reachability.ts";
import type { Refusal } from "./refusal.ts";
import type { ServerPause } from "./server-pause.ts";

/** The wait before the next try, and the deadline for further tries. */
export type Pause = {
  readonly milliseconds: number;
  readonly until: number;
  /** Whether the server requested the wait. */
  readonly isAsked: boolean;
};

/** Returns the wait before the next try; null if this answer is final. */
export type RetryPolicy = (tried: Tried, attempts: number) => Pause | null;

const MAX_PAUSES = 15 * 60_000;
const MALFORMED_TRIES = 3;
const BACKOFF = { first: 200, most: 5_000 };

/** Starts the retry policy of one call: how often and for how long the call is retried. */
export function startRetryPolicy(
  { clock, random, serverPause, reach, retryWait, answersAsGiven }: Shared,
  { repeats }: { readonly repeats: () => boolean },
): RetryPolicy {
  const started = clock.monotonic();
  let renewed = false;
  let paused = 0;
  let faultsSince: number | null = null;

  const until = (deadline: number, attempts: number): Pause | null => {
    const milliseconds = backoff(attempts, BACKOFF, random.next());
    return clock.monotonic() + milliseconds > deadline ? null : { milliseconds, until: deadline, isAsked: false };
  };
  const afterFault = (attempts: number) => {
    faultsSince ??= clock.monotonic();
    return until(reach.deadline(started, faultsSince), attempts);
  };
  const pauseFor = (milliseconds: number): Pause => ({
    milliseconds,
    until: clock.monotonic() + milliseconds,
    isAsked: true,
  });
  const afterRefusal = (refusal: Refusal, asked: number | null, attempts: number): Pause | null => {
    const { status, code } = refusal;
    if (status === 401 && !renewed) {
      renewed = true;
      return pauseFor(0);
    }
    // The first request with this key is still in progress. Its reply will soon be available to this call too.
    const isUnderWay = status === 409 && code === "idempotency-key-in-flight";
    if (status !== 429 && status !== 503 && !isUnderWay) return null;
    if (asked !== null && asked > retryWait) {
      if (status === 429) serverPause.pause(asked, refusal);
      return null;
    }
    const wait = asked ?? (backoff(attempts, BACKOFF) + backoff(attempts, BACKOFF, random.next())) / 2;
    // A server that keeps sending `Retry-After: 0` must not be called in a tight loop.
    paused += Math.max(wait, backoff(attempts, BACKOFF));
    if (paused > (answersAsGiven ? retryWait : Math.max(MAX_PAUSES, retryWait))) return null;
    const pause = Math.max(wait, attempts === 1 ? 0 : backoff(attempts, BACKOFF, random.next()));
    // 429 applies to the whole server, 503 only to this request.
    if (status === 429) serverPause.pause(pause, refusal);
    return pauseFor(pause);
  };

  return ({ answer, retryAfter }, attempts) => {
    switch (answer.state) {
      case "answered":
        return null;
      case "not-sent": {
        if (answer.reason === "aborted") return null;
        const deadline = reach.deadline(started, reach.failed(answer.cause));
        return isLasting(answer.cause) ? null : until(deadline, attempts);
      }
      case "ambiguous":
        return repeats() && mayPass(answer.ambiguity, attempts, answersAsGiven) ? afterFault(attempts) : null;
      case "refused":
        return afterRefusal(answer.refusal, retryAfter, attempts);
    }
  };
}

type Shared = {
  readonly clock: Clock;
  readonly random: Random;
  readonly serverPause: ServerPause;
  readonly reach: Reachability;
  /** The longest wait in milliseconds that the server may request. */
  readonly retryWait: number;
  /** Whether an answer is final, whatever it is. */
  readonly answersAsGiven: boolean;
};

// Retries help after network failures, not after an answer that the server chose.
function mayPass(ambiguity: Ambiguity, attempts: number, answersAsGiven: boolean): boolean {
  // A server may close an idle connection just as it is used again, which says nothing of its answer.
  if (answersAsGiven) return ambiguity === "connection-lost" && attempts === 1;
  if (ambiguity === "malformed") return attempts < MALFORMED_TRIES;
  return ambiguity === "timeout" || ambiguity === "connection-lost" || ambiguity === "server-error";
}
