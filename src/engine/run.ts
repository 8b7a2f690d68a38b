import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Identity } from "../core/manifest.ts";
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

/** A rollout that a pass no longer waits for. */
export type LeftRollout = {
  readonly identity: Identity;
  readonly ended: Promise<void>;
  /** Ends it as superseded, once a newer write of the resource begins. */
  readonly supersede: () => void;
};

/** How a pass stops waiting for rollouts that continue. */
export type RolloutWaiting = {
  readonly stopWaiting: AbortSignal;
  /** Called with a rollout that is followed after the pass. */
  readonly onLeft: (rollout: LeftRollout) => void;
};
