/** The deployment statuses of a failed rollout. */
export const failedStatuses: readonly string[] = ["DEPLOY_FAILED", "BUILD_FAILED", "FAILED", "CANCELLED"];

/** The progress of a rollout. */
export type RolloutState = "progressing" | "succeeded" | "failed";

/** Reads a deployment's current status: `state` decides whether the rollout has ended, the status whether it failed. */
export function rolloutState(
  current: { readonly status: string; readonly state?: unknown } | null | undefined,
): RolloutState {
  if (!current) return "progressing";
  if (failedStatuses.includes(current.status)) return "failed";
  if (current.status === "DEPLOY_SUCCESS" || current.status === "PAUSED") return "succeeded";
  const terminal =
    typeof current.state === "object" &&
    current.state !== null &&
    "isTerminalState" in current.state &&
    current.state.isTerminalState === true;
  return terminal ? "succeeded" : "progressing";
}

/** The progress of a run of a job, by its status. */
export function runState(status: string): RolloutState {
  if (status === "FINISHED") return "succeeded";
  return status === "FAILED" || status === "TERMINATED" ? "failed" : "progressing";
}
