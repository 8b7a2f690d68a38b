import type { Identity } from "../core/manifest.ts";

/**
 * Whether a dryRun of this server was shown to change nothing; `indicated`: one of a new
 * application was answered without ids, which no write is.
 */
export type DryRunProof = "unproven" | "indicated" | "proven" | "ignored";

/** What is remembered of a control plane between runs. */
export type RememberedFacts = {
  /** The extensions that have answered; that one is missing is found out anew by each run. */
  readonly routes: { readonly [operation: string]: "yes" | "no" };
  readonly dryRun: DryRunProof;
  /** Whether `postModelVersion` registered a version here; null while nobody knows. */
  readonly registers: boolean | null;
  /** Orphans that the operator let go of with `--allow-shrink`: they no longer count as missing. */
  readonly released?: readonly Identity[];
  /** Whether a write with an Idempotency-Key is made once here. */
  readonly honoursKeys?: boolean;
  /** The id of the subject that the control plane knows us as. */
  readonly subject?: string | null;
  /** Whether the source that was applied last had a configuration. */
  readonly configured?: boolean;
  /** The last lease that a run of ours had here. */
  readonly lease?: NumberedLease | null;
};

/** Newly learned facts, to be merged into the remembered ones; a null removes one. */
export type LearnedFacts = {
  readonly [name in keyof Omit<RememberedFacts, "routes">]?: RememberedFacts[name] | null;
} & { readonly routes?: { readonly [operation: string]: "yes" | "no" | null } };

/** A lease with its fencing number, which shows whether others held it in between. */
export type NumberedLease = { readonly scope: string; readonly number: number };

/** A control plane of which nothing is known yet. */
export const noFacts: RememberedFacts = { routes: {}, dryRun: "unproven", registers: null };
