import type { Identity } from "../manifest.ts";
import type { OutcomeResult, RolloutResult } from "./report.ts";

/** How a pass ended. */
export type PassResult = "applied" | "partial" | "reported" | "kept" | "refused" | "standing-by" | "failed";

/** One pass, or a commit that a later one replaced before its pass. */
export type PassRecord = {
  /** ISO time of its beginning and its end. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The commit that was carried out, or would have been; null where there is none. */
  readonly commit: string | null;
  readonly result: PassResult | "superseded";
  readonly reason: string | null;
  readonly message: string | null;
  readonly counts: { readonly [name: string]: number };
};

/** What a daemon knows of one target. */
export type TargetStatus = {
  readonly target: string;
  readonly source: string | null;
  readonly sync: "Synced" | "OutOfSync" | "Unknown";
  readonly condition: "Ready" | "Reconciling" | "Stalled";
  readonly reason: string | null;
  readonly message: string | null;
  readonly wantedRevision: string | null;
  readonly appliedRevision: string | null;
  readonly counts: { readonly [name: string]: number };
  /** Resources whose last write may or may not have arrived. */
  readonly unknown: readonly Identity[];
  readonly held: readonly string[];
  /** The first commit since the applied one that is not applied, and since when. */
  readonly oldestUnapplied: { readonly commit: string; readonly since: string } | null;
  readonly lastPass: PassRecord | null;
  readonly nextPassAt: string | null;
};

/** How a resource stood when the last pass ended: what a pass that writes did, or what one that reports would do. */
export type ResourceState = OutcomeResult | "to-create" | "to-update" | "to-ensure" | "orphan";

/** What the last pass said of one resource. */
export type ResourceStatus = {
  readonly identity: Identity;
  readonly state: ResourceState;
  readonly rollout: RolloutResult;
  /** Whether it had moved in live when the pass began. */
  readonly hasDrifted: boolean;
  /** Why it does not stand as declared; null where it does. */
  readonly why: string | null;
};
