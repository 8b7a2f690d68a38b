import type { Diagnostic } from "./diagnostic.ts";
import type { Identity } from "./manifest.ts";
import type { Change } from "./plan.ts";

/** What became of one step. */
export type OutcomeResult = "created" | "updated" | "unchanged" | "skipped" | "blocked" | "failed" | "unknown";

/** Why a step failed; `message` never carries a value of the manifest. */
export type OutcomeError = {
  readonly code: string;
  readonly message: string;
  readonly status?: number;
  /** JSON Pointer in the manifest, where the control plane named one. */
  readonly pointer?: string;
};

/** How the rollout of a write ended; null when there was none or it was not followed. */
export type RolloutResult = "succeeded" | "failed" | "timeout" | "progressing" | null;

/** What became of one resource. */
export type Outcome = {
  readonly identity: Identity;
  readonly kind: string;
  readonly result: OutcomeResult;
  readonly file: string | null;
  readonly rollout: RolloutResult;
  readonly error: OutcomeError | null;
  /** How many times the write was sent. */
  readonly attempts: number;
  /** What became of a write that an earlier run was interrupted in: present where this outcome tells of such a one. */
  readonly interrupted?: "made" | "not-made" | "unknown";
};

/** What a pass did. */
export type ApplyReport = {
  readonly format_version: "1.0";
  readonly revision: string | null;
  readonly server: string;
  readonly summary: { readonly [result in OutcomeResult]: number };
  readonly outcomes: readonly Outcome[];
};

/** Counts outcomes by result. */
export function summariseOutcomes(outcomes: readonly Outcome[]): ApplyReport["summary"] {
  const count = { created: 0, updated: 0, unchanged: 0, skipped: 0, blocked: 0, failed: 0, unknown: 0 };
  for (const { result } of outcomes) count[result] += 1;
  return count;
}

/** What one resource's live did behind git's back. */
export type DriftEntry = {
  readonly identity: Identity;
  readonly kind: string;
  readonly file: string | null;
  readonly line: number | null;
  /** `unrecorded`: it differs from what is declared, and nobody knows who moved. */
  readonly state: "drifted" | "unrecorded" | "absent" | "unknown" | "orphan";
  /** `before` is what was recorded (or its stand-in), `after` is live. */
  readonly changes: readonly Change[];
};

/** What moved in live. */
export type DriftReport = {
  readonly format_version: "1.0";
  readonly server: string;
  readonly complete: boolean;
  readonly summary: {
    readonly drifted: number;
    readonly unrecorded: number;
    readonly absent: number;
    readonly unchanged: number;
    readonly unknown: number;
    readonly orphan: number;
  };
  readonly drift: readonly DriftEntry[];
  readonly diagnostics: readonly Diagnostic[];
};

/** What `validate` found. */
export type ValidationReport = {
  readonly format_version: "1.0";
  readonly summary: {
    readonly files: number;
    /** Those that are valid. */
    readonly manifests: number;
    /** Manifests that are not valid. */
    readonly faulty: number;
    readonly errors: number;
    readonly warnings: number;
  };
  readonly diagnostics: readonly Diagnostic[];
};
