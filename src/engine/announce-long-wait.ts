import { TOLD_AFTER_MS } from "../client/wait-notice.ts";
import type { Clock } from "../clock/clock.ts";

/** Awaits a promise, and reports the wait after five seconds. */
export async function announceLongWait<Result>(
  wait: Promise<Result>,
  report: () => void,
  { clock }: { readonly clock: Clock },
): Promise<Result> {
  using _ = clock.after(TOLD_AFTER_MS, report, { ref: false });
  return await wait;
}
