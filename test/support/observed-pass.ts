import type { PassEvent } from "../../src/core/report/events.ts";
import type { EndedPass, PassTimes } from "../../src/daemon/ended-pass.ts";
import type { PassObserver } from "../../src/daemon/pass-observer.ts";
import type { PassCause } from "../../src/daemon/pass-queue.ts";
import { createPassWatch } from "../../src/daemon/pass-watch.ts";

const passTimes: PassTimes = { startedAt: 1_000, endedAt: 2_000, nextAt: 3_000, wanted: "c0ffee" };

/** Lets an observer see a whole pass, as a daemon does. */
export function observedPass(
  observer: PassObserver,
  reports: readonly (PassEvent | Error)[],
  { cause = "interval", ...times }: Partial<PassTimes> & { readonly cause?: PassCause } = {},
): EndedPass {
  const watch = createPassWatch();
  observer.begin?.({ target: "prod", scope: "all", cause });
  for (const one of reports) {
    for (const each of [watch.observer, observer]) one instanceof Error ? each.failure(one) : each.emit(one);
  }
  const ended = watch.end({ ...passTimes, ...times });
  observer.end?.(ended);
  return ended;
}
