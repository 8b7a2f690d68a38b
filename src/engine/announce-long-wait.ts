import { TOLD_AFTER_MS } from "../client/wait-notice.ts";

/** Awaits a promise, and reports the wait after five seconds. */
export async function announceLongWait<Result>(wait: Promise<Result>, report: () => void): Promise<Result> {
  const timer = setTimeout(report, TOLD_AFTER_MS).unref();
  try {
    return await wait;
  } finally {
    clearTimeout(timer);
  }
}
