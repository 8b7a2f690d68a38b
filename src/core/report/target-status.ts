import type { LastWrite, ResourceState } from "../../contract/generated/output.ts";
import type { Identity } from "../manifest.ts";
import type { RolloutResult } from "./report.ts";

export type {
  FreezeStatus,
  InvalidStatus,
  PassRecord,
  ResourceEvent,
  ResourceState,
  TargetStatus,
} from "../../contract/generated/output.ts";

/** The status of one resource after a pass. */
export type ResourceStatus = {
  readonly identity: Identity;
  readonly state: ResourceState;
  readonly rollout: RolloutResult;
  /** The last status of a rollout that was superseded; absent for others. */
  readonly rolloutStatus?: string;
  /** Whether it had drifted when the pass began. */
  readonly hasDrifted: boolean;
  /** Why it is not as declared; null when it is. */
  readonly why: string | null;
  /** Who wrote the live version that had drifted; absent where nothing had, and where nobody knows. */
  readonly changedBy?: LastWrite;
};
