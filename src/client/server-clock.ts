import type { Clock } from "./clock.ts";
import type { Headers } from "./exchange.ts";
import { parseHttpDate, singleHeader } from "./parse-header.ts";

/** The control plane's own clock, as its replies tell it: its times are compared with each other, never with ours. */
export type ServerClock = {
  /** Takes note of a reply that has just come. */
  readonly saw: (headers: Headers) => void;
  /** Epoch milliseconds, up to a second behind; null where no reply has carried a `Date`. */
  readonly now: () => number | null;
};

/** A clock that counts on from the `Date` of the newest reply. */
export function createServerClock(clock: Clock): ServerClock {
  let last: { readonly date: string | null; readonly at: number } | null = null;
  return {
    saw: ({ date }) => {
      last = { date: singleHeader(date), at: clock.now() };
    },
    now: () => {
      const date = parseHttpDate(last?.date ?? null);
      return date === null || last === null ? null : date + clock.now() - last.at;
    },
  };
}
