// src/engine/apply: the phase that writes. See docs/architecture.md#one-write.

import { TOLD_AFTER_MS } from "../../client/wait-notice.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import type { Run } from "../run.ts";

/** A wait: what it is for, null once that has ended, and its latest end in epoch milliseconds. */
export type LongWait = { readonly text: () => string | null; readonly until: number };

/** Awaits a promise, and reports the wait after five seconds. */
export async function announceLongWait<Result>(
  wait: Promise<Result>,
  { text, until }: LongWait,
  { clock, emit }: Run,
): Promise<Result> {
  const report = (): void => {
    const what = text();
    if (what !== null) emit({ what: "waiting", text: `${what}, until ${timestampText(until)} at the latest` });
  };
  using _ = clock.after(TOLD_AFTER_MS, report, { ref: false });
  return await wait;
}
