import type { RolloutState } from "./rollout.ts";

/** How far a job run is, by its status: one that is unknown to us goes on. */
export function runState(status: string): RolloutState {
  if (status === "FINISHED") return "succeeded";
  return status === "FAILED" || status === "TERMINATED" ? "failed" : "progressing";
}
