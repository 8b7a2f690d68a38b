import type { JsonObject } from "../../../contract/json.ts";

/** A run in progress. */
export type StartedRun = {
  /** `<application>-<deployment version>-<n>`. */
  readonly name: string;
  /** `cluster:workspace:application`. */
  readonly applicationFqn: string;
  readonly manifest: JsonObject;
  /** Its current status. */
  readonly status: string;
  /** When it was created, in epoch milliseconds. */
  readonly startedAt: number;
};

/** The state of a run. */
export type RunState = {
  readonly status: string;
  readonly totalRetries: number;
  /** How and when (epoch milliseconds) it ended; null while it is running. */
  readonly end: { readonly at: number; readonly exitCode: number; readonly error?: string } | null;
};

/** The progress of a run. */
export type RunObservation = {
  readonly state: RunState;
  /** When to observe it again, in epoch milliseconds; null when it has ended. */
  readonly dueAt: number | null;
};

/** Runs jobs. It is stateless, and polled for the progress of each run. */
export type RunDriver = {
  readonly observe: (run: StartedRun, now: number) => Promise<RunObservation>;
};
