import type { DriftOfDay, DriftSpan, PlanReply, ReviewedPlan } from "../contract/generated/output.ts";
import type { Json, JsonObject } from "../contract/json.ts";
import type { FailureCode } from "../core/errors.ts";
import type { GateReceipt } from "../core/gates/content-gate.ts";
import type { TargetDecisions } from "../core/holds.ts";
import type { Identity } from "../core/manifest.ts";
import type { SettledPass } from "../core/report/settled-pass.ts";
import type { PassRecord, ResourceEvent, ResourceState, TargetStatus } from "../core/report/target-status.ts";
import type { TargetProgress } from "../core/stages/target-progress.ts";
import type { ResourcesSeen } from "./resource-events.ts";

/** The number of records of passes that are kept, and for how long, in milliseconds. */
export const KEPT_PASSES = { count: 10_000, ms: 90 * 24 * 3_600_000 } as const;

/** The number of events of resources that are kept; they are kept as long as the records of passes. */
export const KEPT_EVENTS = 200_000;

/** The number of characters that are kept of what writes changed, the newest ones, as long as their events. */
export const KEPT_CHANGES = 50_000_000;

/** The number of receipts of gates that are kept, the newest ones. */
export const KEPT_GATE_RECEIPTS = 10_000;

/** The number of plans of pull requests that are kept, the latest ones, and for how long, in milliseconds. */
export const KEPT_PLANS = { count: 200, ms: 30 * 24 * 3_600_000 } as const;

/** A part of a long list: at most `limit` entries, those that follow the cursor `after` if it is given. */
export type StoredPageRequest = { readonly limit: number; readonly after?: string };

/** The entries of a page, and the cursor with which the next page is asked for; null on the last one. */
export type StoredPage<Entry> = { readonly entries: readonly Entry[]; readonly next: string | null };

/** What is kept of the passes over a target for the next one, also of another process. */
export type PassMemory = {
  /** The commit that was applied last and was not refused, which stays in force while a newer one is; null if none was. */
  readonly appliedCommit: string | null;
  /** The commit whose writes had begun when its pass was cut short, which stays in force instead; absent without one. */
  readonly begunCommit?: string;
  /** Resources that the last pass did not finish; null where they are unknown, and everything must be reconciled. */
  readonly unfinished: readonly Identity[] | null;
  /** When the last pass over everything began, in epoch milliseconds; null before the first one. */
  readonly lastFullPassAt: number | null;
  /** What people and forges were told of its passes, by who tells it. */
  readonly told: JsonObject;
  /** Whose passes it is of; absent where one process runs all of them. */
  readonly claim?: TargetClaim;
  /** The last whole pass, where processes share the passes and it has found nothing to do. */
  readonly settled?: SettledPass;
};

/** What the passes of a fleet are of, and until when no configuration with another control plane takes the target over. */
export type TargetClaim = {
  readonly server: string;
  /** The digest of the source; absent where it is a local folder. */
  readonly source?: string;
  /** Those of the sources before it, latest first: a configuration that still has one of them is refused as long. */
  readonly formerSources?: readonly string[];
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
export type EventFilter = {
  readonly identity?: Identity;
  readonly hasDrifted?: true;
  /** When the pass ended that they are of. */
  readonly at?: ResourceEvent["at"];
  /** Only writes of which it is kept what they changed. */
  readonly isKnown?: true;
  /** Whether each event says what its write changed. */
  readonly withChanges?: true;
};

/** How an action of a person has ended. */
export type EndedAction = {
  /** What the history has of it. */
  readonly record: PassRecord;
  /** Why it was refused, or that nobody knows how it ended; null where it was carried out. */
  readonly failure: { readonly code: FailureCode; readonly message: string } | null;
};

/** An action that is about to be carried out. */
export type TakenAction = {
  /** The key of its request, which nobody takes again. */
  readonly key: string;
  /** The digest of what is asked for. */
  readonly content: string;
  /** How it has ended if the process that takes it dies. */
  readonly interrupted: EndedAction;
};

/** Whose turn an action is: the caller's, or it was taken before, and perhaps has ended. */
export type ActionTurn =
  | { readonly is: "taken" }
  | { readonly is: "running"; readonly content: string }
  | ({ readonly is: "ended"; readonly content: string } & EndedAction);

/** Until when an action is taken for one that a process is carrying out, unless that process says so again. */
export type ActionTime = { readonly now: number; readonly forMs: number };

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
  /** Stores records that no pass has made, such as what people asked for. */
  readonly keepRecords: (records: readonly PassRecord[]) => Promise<void>;
  /**
   * Takes an action before it is carried out, so that no other process carries it out, unless it was taken before. One
   * that was taken and whose time has passed was interrupted; that is recorded here.
   */
  readonly takeAction: (asked: TakenAction, time: ActionTime) => Promise<ActionTurn>;
  /** Says that a process is still carrying out the action that it has taken. */
  readonly renewAction: (key: string, time: ActionTime) => Promise<void>;
  /** Stores how an action has ended, also among the records. */
  readonly endAction: (key: string, ended: EndedAction) => Promise<void>;
  readonly memory: () => Promise<PassMemory>;
  /** Keeps that the writes of a commit begin, until the memory of their pass is stored. */
  readonly keepBegun: (commit: string) => Promise<void>;
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
  /**
   * The plans of pull requests that were sent since a time in UTC, the latest first. Of the state that belongs to no target, as
   * the other two that are about such plans.
   */
  readonly reviewedPlans: (since: string, page: StoredPageRequest) => Promise<StoredPage<ReviewedPlan>>;
  /** The plan with an id, if it was sent since a time in UTC; null if there is none. */
  readonly reviewedPlan: (id: string, since: string) => Promise<PlanReply | null>;
  /** Stores a plan in place of the one with its id, and drops those beyond the limits; returns whether there was one. */
  readonly keepReviewedPlan: (plan: PlanReply) => Promise<boolean>;
  /** The pass that ran at a time in epoch milliseconds; null if there is no record of it. */
  readonly passAt: (at: number) => Promise<PassRecord | null>;
  /** The records of passes, newest first. */
  readonly passes: (page: StoredPageRequest) => Promise<StoredPage<PassRecord>>;
  /** What became of resources, newest first. */
  readonly events: (filter: EventFilter, page: StoredPageRequest) => Promise<StoredPage<ResourceEvent>>;
  /** The events where live had drifted, newest first, each with the time at which that ended. */
  readonly drifts: (page: StoredPageRequest) => Promise<StoredPage<DriftSpan>>;
  /** The resources that are not as declared, with their last event, by identity. */
  readonly unsettled: (
    filter: { readonly state?: ResourceState },
    page: StoredPageRequest,
  ) => Promise<StoredPage<ResourceEvent>>;
  /** The days on which live had drifted, newest first. */
  readonly driftByDay: (page: StoredPageRequest) => Promise<StoredPage<DriftOfDay>>;
};
