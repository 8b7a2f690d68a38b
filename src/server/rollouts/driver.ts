import type { JsonObject } from "../../contract/json.ts";

/** A rollout under way. */
export type DriverRollout = {
  readonly deploymentId: string;
  /** `cluster:workspace:application:version`. */
  readonly fqn: string;
  readonly manifest: JsonObject;
  /** The status that it has. */
  readonly status: string;
  /** When it began, in epoch milliseconds. */
  readonly startedAt: number;
};

/** A status that a rollout has come to. */
export type RolloutStatus = {
  readonly status: string;
  readonly transition: string;
  readonly message: string | null;
  readonly display: string;
  readonly isTerminalState: boolean;
};

/** What has become of a rollout. */
export type RolloutObservation = {
  /** The statuses that it has come to since, in their order. */
  readonly progress: readonly RolloutStatus[];
  /** When to look again, in epoch milliseconds; null when nothing more is to be expected. */
  readonly lookAt: number | null;
};

/** Carries deployments out. It is asked again and again what has become of each, and keeps nothing by itself. */
export type RolloutDriver = {
  /** The status with which a rollout begins. */
  readonly begin: (manifest: JsonObject) => RolloutStatus;
  readonly observe: (rollout: DriverRollout, now: number) => Promise<RolloutObservation>;
};
