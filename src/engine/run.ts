import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { PassEvent } from "../core/report/events.ts";

/** The run that a pass belongs to: where its events go, its clock and randomness, and its stop requests. */
export type Run = {
  readonly emit: (event: PassEvent) => void;
  readonly clock: Clock;
  readonly random: Random;
  /** A stop request: no new work starts, and requests in flight finish. */
  readonly stopping: AbortSignal;
  /** Also aborts requests in flight. */
  readonly signal: AbortSignal;
};

/** How a pass stops waiting for rollouts that continue. */
export type RolloutWaiting = {
  readonly stopWaiting: AbortSignal;
  /** Called with work that continues after the pass. */
  readonly onLeft: (work: Promise<void>) => void;
};
