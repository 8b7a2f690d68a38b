import type { Json, JsonObject } from "../contract/json.ts";
import type { GateReceipt } from "../core/gates/content-gate.ts";
import type { TargetDecisions } from "../core/holds.ts";
import type { Identity } from "../core/manifest.ts";
import type { PassRecord, ResourceEvent, ResourceState, TargetStatus } from "../core/report/target-status.ts";
import type { TargetProgress } from "../core/stages/target-progress.ts";
import type { ResourcesSeen } from "./resource-events.ts";

/** The number of records of passes that are kept, and for how long, in milliseconds. */
export const KEPT_PASSES = { count: 10_000, ms: 90 * 24 * 3_600_000 } as const;

/** The number of events of resources that are kept; they are kept as long as the records of passes. */
export const KEPT_EVENTS = 200_000;

/** The number of receipts of gates that are kept, the newest ones. */
export const KEPT_GATE_RECEIPTS = 10_000;

/** A part of a long list: at most `limit` entries, those that follow the cursor `after` if it is given. */
export type StoredPageRequest = { readonly limit: number; readonly after?: string };

/** The entries of a page, and the cursor with which the next page is asked for; null on the last one. */
export type StoredPage<Entry> = { readonly entries: readonly Entry[]; readonly next: string | null };

/** What is kept of the passes over a target for the next one, also of another process. */
export type PassMemory = {
  /** The commit that was applied last and was not refused, which stays in force while a newer one is; null if none was. */
  readonly appliedCommit: string | null;
  /** Resources that the last pass did not finish; null where they are unknown, and everything must be reconciled. */
  readonly unfinished: readonly Identity[] | null;
  /** When the last pass over everything began, in epoch milliseconds; null before the first one. */
  readonly lastFullPassAt: number | null;
  /** What people and forges were told of its passes, by who tells it. */
  readonly told: JsonObject;
  /** Whose passes it is of; absent where one process runs all of them. */
  readonly claim?: TargetClaim;
};

/** The control plane that the passes of a fleet are over, and until when no configuration with another one takes the target over. */
export type TargetClaim = {
  readonly server: string;
  /** The process that ran the last pass. */
  readonly machine: string | null;
  readonly until: number;
};

/** What is kept before the first pass. */
export const NO_MEMORY: PassMemory = { appliedCommit: null, unfinished: null, lastFullPassAt: null, told: {} };

/** What is stored at the end of a pass, or when its writes begin. */
export type StoredEnd = {
  readonly status: TargetStatus;
  /** The records of the pass and of the commits that it superseded. */
  readonly records?: readonly PassRecord[];
  /** What it found of resources; null if it looked at none. */
  readonly resources?: ResourcesSeen | null;
  /** What the next pass is to know; absent where it stays as it is. */
  readonly memory?: PassMemory;
};

/** Chooses events of resources. */
export type EventFilter = { readonly identity?: Identity; readonly hasDrifted?: true };

/** How often live was found to have drifted on one day (UTC). */
export type DriftOfDay = { readonly day: string; readonly events: number; readonly resources: number };

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
  /** Stores the end of a pass in one transaction. */
  readonly keep: (end: StoredEnd) => Promise<void>;
  readonly memory: () => Promise<PassMemory>;
  /** The receipts of gates of a resource, or of all, the oldest first: one for each resource, content and gate. */
  readonly gateReceipts: (identity: Identity | null) => Promise<readonly GateReceipt[]>;
  /** Stores receipts of gates; one about the same content and gate is replaced. */
  readonly keepGateReceipts: (receipts: readonly GateReceipt[]) => Promise<void>;
  /** How far commits have come on the target, which decides when they reach others. */
  readonly progress: () => Promise<TargetProgress>;
  /**
   * Changes the progress in one transaction; returns it as it is now. The change is given the time in epoch milliseconds by
   * the clock that all processes of the state share; null in a folder, which has one process at a time.
   */
  readonly advance: (change: (before: TargetProgress, now: number | null) => TargetProgress) => Promise<TargetProgress>;
  /** What the patterns of the configuration stood for last; null if nothing is stored. Of the state that belongs to no target. */
  readonly expansion: () => Promise<Json | null>;
  readonly keepExpansion: (expansion: Json) => Promise<void>;
  /** The pass that ran at a time in epoch milliseconds; null if there is no record of it. */
  readonly passAt: (at: number) => Promise<PassRecord | null>;
  /** The records of passes, newest first. */
  readonly passes: (page: StoredPageRequest) => Promise<StoredPage<PassRecord>>;
  /** What became of resources, newest first. */
  readonly events: (filter: EventFilter, page: StoredPageRequest) => Promise<StoredPage<ResourceEvent>>;
  /** The resources that are not as declared, with their last event, by identity. */
  readonly unsettled: (
    filter: { readonly state?: ResourceState },
    page: StoredPageRequest,
  ) => Promise<StoredPage<ResourceEvent>>;
  /** The days on which live had drifted, newest first. */
  readonly driftByDay: (page: StoredPageRequest) => Promise<StoredPage<DriftOfDay>>;
};
