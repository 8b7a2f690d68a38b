import { timestampText } from "../core/timestamp-text.ts";
import type { Clock } from "./clock.ts";

/** A wait that takes longer than this is reported. */
export const TOLD_AFTER_MS = 5000;

const BETWEEN_MS = 60_000;

/** What a call waits for before its next try. */
export type Waiting = {
  readonly why: string;
  /** When the wait, or the last of several, is over at the latest; on the clock that only goes forward. */
  readonly until: number;
};

/** Reports the waits of one call. */
export type WaitNotice = {
  /** Sets what the call waits for from now on; null when it does not wait. */
  readonly waits: (waiting: Waiting | null) => void;
  /** Ends the report: the call is over. */
  readonly ends: () => void;
};

/**
 * Tells people of the waits of all calls to one server: of each when it has taken five seconds, and of many that wait for
 * the same only once.
 */
export function createWaitNotices(clock: Clock, say: (text: string) => void): () => WaitNotice {
  let [saidAt, saidUntil] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const tell = ({ why, until }: Waiting): void => {
    const now = clock.now();
    if (now < saidUntil && now - saidAt < BETWEEN_MS) return;
    saidAt = now;
    saidUntil = until;
    say(`${why}, until ${timestampText(clock.date() + Math.max(0, until - now))}`);
  };
  return () => {
    let current: Waiting | null = null;
    let timer: NodeJS.Timeout | undefined;
    return {
      waits: (waiting) => {
        current = waiting;
        if (waiting !== null) timer ??= setInterval(() => current !== null && tell(current), TOLD_AFTER_MS).unref();
      },
      ends: () => clearInterval(timer),
    };
  };
}
