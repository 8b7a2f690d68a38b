import type { SendRight } from "../../client/exchange.ts";
import type { Intent } from "../../state/ledger.ts";
import type { Writing } from "./write-job.ts";

/** How long an intent may wait until it is sent, as a share of the request timeout. */
const WAIT_SHARE = 0.1;

/** A write in the journal, which may be sent only so early that the request ends before the deadline of its intent. */
export type JournalEntry = {
  /** The intent, with its present deadline. */
  readonly intent: () => Intent;
  /** The right to send it. Its renewal moves the deadline, which fails where another process has taken over the state. */
  readonly right: SendRight;
  /** Called right before the first byte of each try. */
  readonly onSent: () => void;
};

/** Computes the deadline of a request that is sent soon. */
export function deadlineOf({ run, rules }: Pick<Writing, "run" | "rules">, waitShare = WAIT_SHARE): number {
  return Math.ceil(run.clock.now() + rules.requestTimeoutMs * (1 + waitShare));
}

/** Watches the deadline of an intent that is stored in the journal now. */
export function journalEntry(stored: Intent, { session: { ledger }, run, rules }: Writing): JournalEntry {
  const { clock } = run;
  let intent = stored;
  let [waitShare, isRenewed] = [WAIT_SHARE, false];
  // Also by the monotonic clock, since the other one may be set back meanwhile.
  let storedAt = clock.monotonic();
  return {
    intent: () => intent,
    right: {
      // Whoever takes over the journal relies on the deadline: no request may end after it.
      isValid: () => {
        const rest = intent.deadline - rules.requestTimeoutMs - clock.now();
        return rest >= 0 && clock.monotonic() - storedAt <= rules.requestTimeoutMs * waitShare;
      },
      renew: async () => {
        // The last renewal was over before the request was sent.
        if (isRenewed) waitShare *= 2;
        isRenewed = true;
        const moved = { ...intent, deadline: deadlineOf({ run, rules }, waitShare) };
        const movedAt = clock.monotonic();
        await ledger.begin(moved, [intent.id]);
        [intent, storedAt] = [moved, movedAt];
        return null;
      },
    },
    onSent: () => {
      [waitShare, isRenewed] = [WAIT_SHARE, false];
    },
  };
}
