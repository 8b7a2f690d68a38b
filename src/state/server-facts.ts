import type { Identity } from "../core/manifest.ts";

/**
 * Whether a dryRun of this server was shown to change nothing; `indicated`: one of a new
 * application was answered without ids, which no write is.
 */
export type DryRunProof = "unproven" | "indicated" | "proven" | "ignored";

/** What is stored about a control plane between runs. */
export type StoredServerFacts = {
  /** The extensions that have answered; each run finds out anew which are missing. */
  readonly routes: { readonly [operation: string]: "yes" | "no" };
  readonly dryRun: DryRunProof;
  /** Whether `postModelVersion` registered a version here; null while unknown. */
  readonly registers: boolean | null;
  /** Orphans that the operator let go of with `--allow-shrink`: they no longer count as missing. */
  readonly released?: readonly Identity[];
  /** Whether the server executes a write with an Idempotency-Key once. */
  readonly honoursKeys?: boolean;
  /** The id of the subject that the control plane knows us as. */
  readonly subject?: string | null;
  /** Whether the source that was applied last had a configuration. */
  readonly configured?: boolean;
  /** The last lease that a run of ours had here. */
  readonly lease?: NumberedLease | null;
};

/** Changes to be merged into the stored facts; a null removes one. */
export type ServerFactChanges = {
  readonly [name in keyof Omit<StoredServerFacts, "routes">]?: StoredServerFacts[name] | null;
} & { readonly routes?: { readonly [operation: string]: "yes" | "no" | null } };

/** A lease with its fencing token, which shows whether others held it in between. */
export type NumberedLease = { readonly scope: string; readonly number: number };

/** The facts about a control plane that is not known yet. */
export const noFacts: StoredServerFacts = { routes: {}, dryRun: "unproven", registers: null };
