import type { Clock } from "../clock/clock.ts";
import type { Headers } from "./exchange.ts";
import { parseHttpDate, singleHeader } from "./parse-header.ts";

/** The control plane's clock, from its replies. Its times are compared with each other, never with the local clock. */
export type ServerClock = {
  /** Records the `Date` of a reply that has just arrived. */
  readonly saw: (headers: Headers) => void;
  /** Epoch milliseconds, up to a second late; null until a reply has had a `Date`. */
  readonly now: () => number | null;
};

/** Creates a clock that continues from the `Date` of the newest reply. */
export function createServerClock(clock: Clock): ServerClock {
  let last: { readonly date: string | null; readonly at: number } | null = null;
  return {
    saw: ({ date }) => {
      last = { date: singleHeader(date), at: clock.monotonic() };
    },
    now: () => {
      const date = parseHttpDate(last?.date ?? null);
      return date === null || last === null ? null : date + clock.monotonic() - last.at;
    },
  };
}
