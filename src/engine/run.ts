import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { PassEvent } from "../core/report/events.ts";

/** What can be asked to stop: no new work starts, and requests in flight finish. */
export type Stoppable = { readonly clock: Clock; readonly stopping: AbortSignal };

/** The run that a pass belongs to: where its events go, its clock and randomness, and its stop requests. */
export type Run = Stoppable & {
  readonly emit: (event: PassEvent) => void;
  readonly random: Random;
  /** Also aborts requests in flight. */
  readonly signal: AbortSignal;
};

/** How a pass stops waiting for rollouts that continue. */
export type RolloutWaiting = {
  readonly stopWaiting: AbortSignal;
  /** Called with work that continues after the pass. */
  readonly onLeft: (work: Promise<void>) => void;
};
