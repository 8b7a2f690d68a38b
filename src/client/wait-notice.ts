import type { Clock } from "../clock/clock.ts";
import { timestampText } from "../core/timestamp-text.ts";

/** A wait that takes longer than this is reported. */
export const TOLD_AFTER_MS = 5000;

const BETWEEN_MS = 60_000;

/** The reason for a wait before the next try, and its end. */
export type Waiting = {
  readonly why: string;
  /** The latest end of the wait, or of the last of several waits, on the monotonic clock. */
  readonly until: number;
  /** Whether the control plane is away, which the log tells by itself. */
  readonly isUnreachable?: boolean;
};

/** Called for a wait, with the reason and the end as text. */
export type OnWait = (text: string, about: { readonly isUnreachable: boolean }) => void;

/** Reports the waits of one call. */
export type WaitNotice = {
  /** Sets the current wait of the call; null if it does not wait. */
  readonly waits: (waiting: Waiting | null) => void;
  /** Stops the reports, when the call is over. */
  readonly ends: () => void;
};

/**
 * Announces the waits of all calls to one server. A wait is announced after five seconds, and several calls that wait at
 * the same time are announced only once.
 */
export function createWaitNotices(clock: Clock, onWait: OnWait): () => WaitNotice {
  let [announcedAt, announcedUntil] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const announce = ({ why, until, isUnreachable = false }: Waiting): void => {
    const now = clock.monotonic();
    if (now < announcedUntil && now - announcedAt < BETWEEN_MS) return;
    announcedAt = now;
    announcedUntil = until;
    onWait(`${why}, until ${timestampText(clock.now() + Math.max(0, until - now))}`, { isUnreachable });
  };
  return () => {
    let current: Waiting | null = null;
    let timer: Disposable | undefined;
    return {
      waits: (waiting) => {
        current = waiting;
        if (waiting !== null)
          timer ??= clock.every(TOLD_AFTER_MS, () => current !== null && announce(current), { ref: false });
      },
      ends: () => timer?.[Symbol.dispose](),
    };
  };
}
