import type { Clock } from "../clock/clock.ts";
import type { Random } from "../clock/random.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { PassEvent } from "../core/report/events.ts";
import type { Desired } from "./load/desired.ts";
import type { DesiredRead } from "./load.ts";
import type { HoldsInForce, TargetConnection } from "./target.ts";

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

/** A pass with its source read and its server connected. */
export type Pass = {
  readonly connection: TargetConnection;
  readonly read: DesiredRead;
  /** The part of the source to reconcile; null for everything selected. */
  readonly part: Desired | null;
  readonly run: Run;
  readonly holds: HoldsInForce;
  /** The warnings about the run so far. */
  readonly warnings: () => readonly Diagnostic[];
};
