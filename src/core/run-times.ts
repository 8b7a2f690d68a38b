import type { Json } from "../contract/json.ts";

// The interface leaves the unit of these times open: below this number they are seconds (until the year 5138).
const MILLISECONDS_FROM = 1e11;

/** When a run of a job began and ended, in epoch milliseconds: NaN where it does not say when it began, null while it runs. */
export function runTimes({
  createdAt,
  endTime,
}: {
  readonly createdAt?: Json | undefined;
  readonly endTime?: Json | undefined;
}): { readonly began: number; readonly ended: number | null } {
  const ended = milliseconds(endTime);
  // A run in progress may have an end of 0.
  return { began: milliseconds(createdAt), ended: ended > 0 ? ended : null };
}

function milliseconds(time: Json | undefined): number {
  if (typeof time !== "number") return Number.NaN;
  return Math.abs(time) < MILLISECONDS_FROM ? time * 1000 : time;
}
