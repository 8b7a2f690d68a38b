/** Deployment statuses that end a rollout badly. */
export const failedStatuses: readonly string[] = ["DEPLOY_FAILED", "BUILD_FAILED", "FAILED", "CANCELLED"];

/** How far a rollout is: still moving, or where it ended. */
export type RolloutState = "progressing" | "succeeded" | "failed";

/** Reads a deployment's current status; `state` decides whether it moves on, the status name whether it went well. */
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
