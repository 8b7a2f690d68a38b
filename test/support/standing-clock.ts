import type { Clock } from "../../src/clock/clock.ts";
import { systemClock } from "../../src/clock/system.ts";

/** The clock of this machine, but for the monotonic time, which passes only when a test says so: by so much, or from then on by itself. */
export function standingClock(): {
  readonly clock: Clock;
  readonly pass: (milliseconds: number) => void;
  readonly run: () => void;
} {
  let [passed, runsSince] = [0, null as number | null];
  const monotonic = () => passed + (runsSince === null ? 0 : systemClock.monotonic() - runsSince);
  return {
    clock: { ...systemClock, monotonic },
    pass: (milliseconds) => {
      passed += milliseconds;
    },
    run: () => {
      runsSince = systemClock.monotonic();
    },
  };
}
