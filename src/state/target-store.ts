import type { TargetDecisions } from "../core/holds.ts";
import type { PassRecord, TargetStatus } from "../core/report/target-status.ts";

/** The number of records of passes that are kept, and for how long, in milliseconds. */
export const KEPT_PASSES = { count: 10_000, ms: 90 * 24 * 3_600_000 } as const;

/** A part of a long list: at most `limit` entries, those before the cursor `before` if it is given. */
export type StoredPageRequest = { readonly limit: number; readonly before?: string };

/** The entries of a page, and the cursor with which the next page is asked for; null on the last one. */
export type StoredPage<Entry> = { readonly entries: readonly Entry[]; readonly next: string | null };

/** The decisions before and after a change. */
export type DecisionChange = { readonly before: TargetDecisions; readonly after: TargetDecisions };

/** What outlives a process of one target beside the ledgers of its servers: decisions of people, passes and the status. */
export type TargetStore = {
  /** The decisions of people, those that have ended included. */
  readonly decisions: () => Promise<TargetDecisions>;
  /** Changes the decisions in one transaction; returns them as they were before and as they are now. */
  readonly decide: (change: (before: TargetDecisions) => TargetDecisions) => Promise<DecisionChange>;
  /** The status that was stored last; null if there is none. */
  readonly status: () => Promise<TargetStatus | null>;
  /** Stores the status together with the records of passes that led to it. */
  readonly keep: (status: TargetStatus, records?: readonly PassRecord[]) => Promise<void>;
  /** The pass that ran at a time in epoch milliseconds; null if there is no record of it. */
  readonly passAt: (at: number) => Promise<PassRecord | null>;
  /** The records of passes, newest first. */
  readonly passes: (page: StoredPageRequest) => Promise<StoredPage<PassRecord>>;
};
