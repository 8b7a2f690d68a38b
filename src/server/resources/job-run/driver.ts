import type { JsonObject } from "../../../contract/json.ts";

/** A run under way. */
export type Run = {
  /** `<application>-<deployment version>-<n>`. */
  readonly name: string;
  /** `cluster:workspace:application`. */
  readonly applicationFqn: string;
  readonly manifest: JsonObject;
  /** The status that it has. */
  readonly status: string;
  /** When it was made, in epoch milliseconds. */
  readonly startedAt: number;
};

/** Where a run stands. */
export type RunState = {
  readonly status: string;
  readonly totalRetries: number;
  /** How it ended, and when (epoch milliseconds); null while it goes on. */
  readonly end: { readonly at: number; readonly exitCode: number; readonly error: string | null } | null;
};

/** What has become of a run. */
export type RunObservation = {
  readonly state: RunState;
  /** When to look again, in epoch milliseconds; null when nothing more is to be expected. */
  readonly lookAt: number | null;
};

/** Carries runs of jobs out. It is asked again and again what has become of each, and keeps nothing by itself. */
export type RunDriver = {
  readonly observe: (run: Run, now: number) => Promise<RunObservation>;
};
