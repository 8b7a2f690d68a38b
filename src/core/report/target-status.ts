import type { RegistryOnly } from "../../contract/generated/output.ts";
import type { GateStatus } from "../gates/gate-status.ts";
import type { Identity } from "../manifest.ts";
import type { PassResultName } from "./pass-result.ts";
import type { Outcome, OutcomeResult, RolloutResult } from "./report.ts";

/** One pass, or a commit that a later one replaced before its pass. */
export type PassRecord = {
  /** ISO times of its start and end. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The commit that was applied, or would have been; null when there is none. */
  readonly commit: string | null;
  readonly result: PassResultName;
  readonly reason: string | null;
  readonly message: string | null;
  readonly counts: { readonly [name: string]: number };
};

/** An invalid manifest, and what was written last of its resource and stays in force; null if nothing was. */
export type InvalidStatus = Pick<Outcome, "file"> & {
  /** Empty if the manifest does not say what it declares. */
  readonly identity: Identity;
  /** Null if the file as a whole cannot be read. */
  readonly line: number | null;
  readonly message: string;
  readonly lastGood: { readonly at: string; readonly version: number | null } | null;
};

/** A time in which nothing is written: the ISO time of its end, null if none is known, and why. */
export type FreezeStatus = { readonly until: string | null; readonly reason: string | null };

/** A daemon's status of one target. */
export type TargetStatus = {
  readonly target: string;
  readonly source: string | null;
  readonly sync: "Synced" | "OutOfSync" | "Unknown";
  /**
   * `Held`: a person's hold, a freeze or the order of targets is the only reason why it is not `Ready`. `Retired`: its pattern
   * no longer stands for it, and its state is kept.
   */
  readonly condition: "Ready" | "Reconciling" | "Held" | "Stalled" | "Retired";
  readonly reason: string | null;
  readonly message: string | null;
  /** The invalid manifests, which passes leave out. */
  readonly invalid: readonly InvalidStatus[];
  readonly wantedRevision: string | null;
  /** The last commit that was applied whole. */
  readonly appliedRevision: string | null;
  readonly counts: { readonly [name: string]: number };
  /** Resources whose last write may or may not have reached the control plane. */
  readonly unknown: readonly Identity[];
  readonly held: readonly string[];
  /** What its gates said last; absent without gates. */
  readonly gates?: GateStatus;
  /** The versions that the registry holds and no manifest declares, at the last pass over the whole source; absent before. */
  readonly registryOnly?: readonly RegistryOnly[];
  /** The freeze in which nothing is written now; null while there is none. */
  readonly frozen: FreezeStatus | null;
  /** The freeze that begins next; null where none is known. */
  readonly nextFreeze: (FreezeStatus & { readonly from: string }) | null;
  /** The first unapplied commit after the applied one, and since when it is unapplied. */
  readonly oldestUnapplied: { readonly commit: string; readonly since: string } | null;
  readonly lastPass: PassRecord | null;
  readonly nextPassAt: string | null;
};

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
