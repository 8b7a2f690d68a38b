import type { JsonObject } from "../../contract/json.ts";

/** A rollout in progress. */
export type DriverRollout = {
  readonly deploymentId: string;
  /** `cluster:workspace:application:version`. */
  readonly fqn: string;
  readonly manifest: JsonObject;
  /** Its current status. */
  readonly status: string;
  /** When it began, in epoch milliseconds. */
  readonly startedAt: number;
};

/** A status that a rollout has reached. */
export type RolloutStatus = {
  readonly status: string;
  readonly transition: string;
  readonly message: string | undefined;
  readonly display: string;
  readonly isTerminalState: boolean;
};

/** The progress of a rollout. */
export type RolloutObservation = {
  /** The statuses that it has reached since, in order. */
  readonly progress: readonly RolloutStatus[];
  /** When to observe it again, in epoch milliseconds; null when it has ended. */
  readonly dueAt: number | null;
};

/** Rolls out deployments. It is stateless, and polled for the progress of each. */
export type RolloutDriver = {
  /** The status with which a rollout begins. */
  readonly begin: (manifest: JsonObject) => RolloutStatus;
  readonly observe: (rollout: DriverRollout, now: number) => Promise<RolloutObservation>;
};
