import { TOLD_AFTER_MS } from "../client/wait-notice.ts";

/** Waits, and reports the wait once it has taken five seconds. */
export async function announceLongWait<Result>(wait: Promise<Result>, say: () => void): Promise<Result> {
  const timer = setTimeout(say, TOLD_AFTER_MS).unref();
  try {
    return await wait;
  } finally {
    clearTimeout(timer);
  }
}
