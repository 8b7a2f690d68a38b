import type { Dispatcher } from "undici";
import type { Clock } from "../clock/clock.ts";

/** What a control plane is to be spared: requests in flight, and requests begun in a second; null for no limit. */
export type RequestLimits = { readonly concurrency: number | null; readonly requestsPerSecond: number | null };

/** Delays requests so that all connections that share it stay within its limits together. */
export type RequestLimit = {
  /** A dispatcher whose requests are limited. */
  readonly limited: (dispatcher: Dispatcher) => Dispatcher;
};

/** How late a timer may be without fewer requests for it. */
const LATE_MS = 10;

/** Creates the limit of one control plane. */
export function createRequestLimit(
  { concurrency, requestsPerSecond }: RequestLimits,
  { monotonic, after }: Clock,
): RequestLimit {
  const most = concurrency ?? Number.POSITIVE_INFINITY;
  // Evenly spaced, so that no second of any phase has more of them.
  const spacingMs = requestsPerSecond === null ? 0 : 1000 / requestsPerSecond;
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let nextAt = Number.NEGATIVE_INFINITY;
  let isTimed = false;
  const beginMore = (): void => {
    while (!isTimed && inFlight < most && waiting.length > 0) {
      const now = monotonic();
      if (now < nextAt) {
        isTimed = true;
        after(nextAt - now, () => {
          isTimed = false;
          beginMore();
        });
        return;
      }
      nextAt = Math.max(nextAt, now - LATE_MS) + spacingMs;
      inFlight += 1;
      waiting.shift()?.();
    }
  };
  const end = (): void => {
    inFlight -= 1;
    beginMore();
  };
  return {
    limited: (dispatcher) =>
      dispatcher.compose((dispatch) => (options, handler) => {
        waiting.push(() => dispatch(options, endsWith(handler, end)));
        beginMore();
        return true;
      }),
  };
}

// Of each request, the dispatcher reports one end.
function endsWith(handler: Dispatcher.DispatchHandler, end: () => void): Dispatcher.DispatchHandler {
  return {
    ...handler,
    onResponseEnd: (controller, trailers) => {
      end();
      handler.onResponseEnd?.(controller, trailers);
    },
    onResponseError: (controller, error) => {
      end();
      handler.onResponseError?.(controller, error);
    },
  };
}
