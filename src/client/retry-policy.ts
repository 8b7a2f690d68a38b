import type { Ambiguity, Tried } from "./call-outcome.ts";
import type { Clock } from "./clock.ts";
import { isLasting, type Reachability } from "./reachability.ts";
import type { Refusal } from "./refusal.ts";
import type { ServerPause } from "./server-pause.ts";

/** How long to wait before the next try, and until when tries are made at the latest. */
export type Pause = {
  readonly milliseconds: number;
  readonly until: number;
  /** Whether the server asked for it. */
  readonly isAsked: boolean;
};

/** The wait before the next try; null when this answer stands. */
export type RetryPolicy = (tried: Tried, attempts: number) => Pause | null;

const MAX_PAUSES = 15 * 60_000;
const MALFORMED_TRIES = 3;
const FIRST_BACKOFF = 200;
const MAX_BACKOFF = 5_000;

/** Starts the retry policy of one call: how often and how long it is worth repeating. */
export function startRetryPolicy(
  { clock, random, serverPause, reach, retryWait }: Shared,
  { repeats }: { readonly repeats: () => boolean },
): RetryPolicy {
  const started = clock.now();
  let renewed = false;
  let paused = 0;
  let faultsSince: number | null = null;

  const until = (deadline: number, attempts: number): Pause | null => {
    const milliseconds = backoff(attempts, random());
    return clock.now() + milliseconds > deadline ? null : { milliseconds, until: deadline, isAsked: false };
  };
  const afterFault = (attempts: number) => {
    faultsSince ??= clock.now();
    return until(reach.deadline(started, faultsSince), attempts);
  };
  const pauseFor = (milliseconds: number): Pause => ({
    milliseconds,
    until: clock.now() + milliseconds,
    isAsked: true,
  });
  const afterRefusal = (refusal: Refusal, asked: number | null, attempts: number): Pause | null => {
    const { status, code } = refusal;
    if (status === 401 && !renewed) {
      renewed = true;
      return pauseFor(0);
    }
    // The first request under the key is still being answered: soon its reply is there for this one too.
    const isUnderWay = status === 409 && code === "idempotency-key-in-flight";
    if (status !== 429 && status !== 503 && !isUnderWay) return null;
    if (asked !== null && asked > retryWait) {
      if (status === 429) serverPause.pause(asked, refusal);
      return null;
    }
    const wait = asked ?? (backoff(attempts, 1) + backoff(attempts, random())) / 2;
    // A server that says "at once" again and again must not be asked in a tight loop.
    paused += Math.max(wait, backoff(attempts, 1));
    if (paused > Math.max(MAX_PAUSES, retryWait)) return null;
    const pause = Math.max(wait, attempts === 1 ? 0 : backoff(attempts, random()));
    // 429 speaks for the whole server, 503 for what was asked.
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
        return repeats() && mayPass(answer.ambiguity, attempts) ? afterFault(attempts) : null;
      case "refused":
        return afterRefusal(answer.refusal, retryAfter, attempts);
    }
  };
}

type Shared = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly serverPause: ServerPause;
  readonly reach: Reachability;
  /** Milliseconds that a server may ask to wait. */
  readonly retryWait: number;
};

// Repeating helps against what the network did, not against what the server says on purpose.
function mayPass(ambiguity: Ambiguity, attempts: number): boolean {
  if (ambiguity === "malformed") return attempts < MALFORMED_TRIES;
  return ambiguity === "timeout" || ambiguity === "connection-lost" || ambiguity === "server-error";
}

/** Milliseconds to wait before try `attempt` + 1: exponential with full jitter, `random` within 0 … 1. */
export function backoff(attempt: number, random: number): number {
  return Math.round(random * Math.min(MAX_BACKOFF, FIRST_BACKOFF * 2 ** Math.min(attempt - 1, 10)));
}
