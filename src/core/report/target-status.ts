import type { Identity } from "../manifest.ts";
import type { OutcomeResult, RolloutResult } from "./report.ts";

export type { FreezeStatus, InvalidStatus, PassRecord, TargetStatus } from "../../contract/generated/output.ts";

/** A resource's state at the end of the last pass: the outcome of a writing pass, or what a reporting pass would do. */
export type ResourceState = OutcomeResult | "to-create" | "to-update" | "to-ensure" | "orphan";

/** The status of one resource after a pass. */
export type ResourceStatus = {
  readonly identity: Identity;
  readonly state: ResourceState;
  readonly rollout: RolloutResult;
  /** Whether it had drifted when the pass began. */
  readonly hasDrifted: boolean;
  /** Why it is not as declared; null when it is. */
  readonly why: string | null;
};

/** What became of a resource in a pass: a write, a difference that was found, or that it is as declared again. */
export type ResourceEvent = ResourceStatus & {
  /** ISO time at which the pass ended. */
  readonly at: string;
  /** The commit that the pass compared with live; null when there is none. */
  readonly commit: string | null;
};
