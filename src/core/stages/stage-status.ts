import type { StageState, StageStatus, StageTargetStatus } from "../../contract/generated/output.ts";
import type { TargetStatus } from "../report/target-status.ts";
import { durationText } from "./duration.ts";
import type { Stage } from "./stages.ts";
import { type CommitProgress, hasFailed, type TargetProgress } from "./target-progress.ts";

// The most important one first.
const stageStates = [
  "Held",
  "Failed",
  "Halted",
  "Waiting",
  "Progressing",
  "Unknown",
  "Synced",
  "Healthy",
] as const satisfies readonly StageState[];

/** A target of a stage, with the hold on its stage; null if there is none. */
export type StagedTarget = {
  readonly status: TargetStatus;
  readonly progress: TargetProgress | null;
  readonly hold: string | null;
};

/** The status of each stage, in the order in which commits reach them. */
export function stageStatuses(
  stages: readonly Stage[],
  targets: ReadonlyMap<string, StagedTarget>,
): readonly StageStatus[] {
  return stages.flatMap(({ name, after, targets: members }) => {
    const found = members.flatMap((member) => targets.get(member) ?? []).map(targetStatus);
    const state = stageStates.find((one) => found.some((target) => target.state === one));
    return state === undefined ? [] : [{ name, after, state, targets: found }];
  });
}

function targetStatus({ status, progress, hold }: StagedTarget): StageTargetStatus {
  const last = progress?.commits.at(-1);
  const commit = last?.commit ?? status.appliedRevision;
  return { target: status.target, commit, ...stateOf(status, last, hold) };
}

function stateOf(
  { reason, message, sync, condition }: TargetStatus,
  last: CommitProgress | undefined,
  hold: string | null,
): Pick<StageTargetStatus, "state" | "message"> {
  if (hold !== null) return { state: "Held", message: hold };
  if (last !== undefined && hasFailed(last)) return { state: "Failed", message: last.failure ?? last.why };
  if (reason === "Halted" || reason === "Waiting") return { state: reason, message };
  if (last === undefined) return { state: condition === "Ready" && sync === "Synced" ? "Synced" : "Unknown", message };
  if (!last.isApplied || last.health === "progressing") return { state: "Progressing", message: last.why };
  if (last.health === "unknown") return { state: "Unknown", message: last.why };
  return { state: "Healthy", message: `healthy for ${durationText(last.healthyMs)}` };
}
