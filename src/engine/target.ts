import type { SourceCache } from "../cache/source-facts-cache.ts";
import type { IndexedRevision } from "../cache/source-index.ts";
import type { WriteRevision } from "../client/compose-request.ts";
import type { ApprovalRule } from "../core/approvals/approval-rule.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { FreezeSchedule } from "../core/guards/freeze-windows.ts";
import type { ShrinkLimits } from "../core/guards/mass-change-guards.ts";
import type { HeldContents } from "../core/holds.ts";
import type { IgnoreRule } from "../core/ignore/ignore-rules.ts";
import type { Identity } from "../core/manifest.ts";
import type { Risk } from "../core/plan/plan.ts";
import type { ApplyEvent } from "../core/report/events.ts";
import type { TokenOrigin } from "../core/report/report.ts";
import type { Selection } from "../core/selection/select.ts";
import type { LoadRules } from "../manifests/load-manifests.ts";
import type { SourceOptions } from "../source/read-source.ts";
import type { SourceConfig } from "../source/read-source-config.ts";
import type { SourceReader } from "../source/source-reader.ts";
import type { State, StateLock, TargetState } from "../state/state.ts";
import type { TargetGates } from "./gates/gate-access.ts";
import type { Run, Stoppable } from "./run.ts";
import type { ServerSession } from "./session.ts";

/** What reading a target's source takes: the source, its state folder and rules, and what other targets declare. */
export type ReadTarget = {
  /** Its name, which policies see. @default "default" */
  readonly name?: string;
  readonly source: TargetSource;
  /** The cache of the source between passes; null where every pass reads everything. */
  readonly sourceCache: SourceCache | null;
  readonly state: TargetState;
  /** The rules of a pass, from the configuration in its revision. */
  readonly rules: (config: SourceConfig["repository"]) => Rules;
  /** The gates of prompts and models; absent if it has none. */
  readonly gates?: TargetGates;
  /** The folder that the operator names for the files of model versions; absent without one. */
  readonly modelRoot?: string;
  /** Those of some identities that other targets of the same control plane declare; absent with a single target. */
  readonly declaredElsewhere?: (identities: Iterable<Identity>) => Promise<ReadonlySet<Identity>>;
  /** Fails if another target of the same control plane declares one of these identities; absent with a single target. */
  readonly claim?: (declared: ReadonlySet<Identity>) => Promise<void>;
  /** What was read of it since the last call for the claims of other targets; absent with a single target. */
  readonly takeRead?: () => IndexedRevision | null;
};

/** What a pass reconciles: a source with a control plane, with a state folder and rules. */
export type Target = ReadTarget & {
  readonly server: TargetServer;
  /** What people have put on hold. */
  readonly holds: Holds;
  /** When nothing may be written; absent without freeze windows. */
  readonly freezes?: FreezeSchedule;
  /** Proposes for git what was changed in live; absent where that is written back. */
  readonly drift?: DriftProposer;
  /** Its order among other targets; absent for a single one, and for one that is retired. */
  readonly order?: TargetOrder;
};

/** Proposes for git what was changed in live alone. */
export type DriftProposer = {
  /**
   * Brings the proposal up to what a pass over the whole source has found, and returns the resources in which git wins now.
   * All others stay as they are, also where a proposal cannot be made now.
   */
  readonly propose: (found: DriftAlone, run: Run) => Promise<ReadonlySet<Identity>>;
  /** Forgets that git wins in resources which now are as it says: what is changed in them later is proposed again. */
  readonly written: (identities: readonly Identity[]) => Promise<void>;
};

/** The resources in which a pass has found that live alone has changed. */
export type DriftAlone = {
  readonly revision: string | null;
  /** The branch of the work tree; null if it has none. */
  readonly branch: string | null;
  readonly identities: readonly Identity[];
  /** A digest of the differences: the same as long as all of them are. */
  readonly digest: string;
};

/** The order of a target among others. */
export type TargetOrder = {
  /** Whether other targets come before or after it, or share a limit with it. */
  readonly hasOthers: boolean;
  /** Fails with a `SourceError` unless the target may apply this revision now. */
  readonly require: (revision: string | null, run: Stoppable) => Promise<void>;
  /** The order that a person has overridden by flag; null if it was met. */
  readonly overridden: () => string | null;
  /** Gives back the place of `maxUpdate` that `require` has taken, since nothing was written. */
  readonly release: () => Promise<void>;
  /** Warns where an apply would be refused. */
  readonly warnings: (revision: string | null, run: Stoppable) => Promise<readonly Diagnostic[]>;
  /** Records how far a revision has come after a pass. */
  readonly observe: (pass: PassOfOrder, run: Stoppable) => Promise<void>;
};

/** A pass, as far as the order of targets depends on it. */
export type PassOfOrder = {
  /** The commit that was applied or planned last; null if there is none. */
  readonly commit: string | null;
  /** What an apply did; null if none ended. */
  readonly applied: ApplyEvent | null;
};

/** What people have put on hold. */
export type Holds = {
  /** Why each resource is held. */
  readonly held: () => Promise<ReadonlyMap<Identity, string>>;
  /** The same after a revision in force, which may end a hold by what it declares of the held resources. */
  readonly heldAfter: (contents: HeldContents) => Promise<ReadonlyMap<Identity, string>>;
};

/** Where manifests come from. */
export type TargetSource = Omit<SourceOptions, "limits"> & {
  /** Files and folders to exclude. */
  readonly ignore: readonly string[];
  /** The configuration of the source when the target was opened. */
  readonly config: SourceConfig;
  /** The warnings about the run so far, which are about no manifest. */
  readonly warnings: () => readonly Diagnostic[];
  /** What reads it. @default files and git */
  readonly reader?: SourceReader;
  /** Fails if a configuration sets operator keys. */
  readonly accept: (config: SourceConfig) => void;
};

/** The control plane. */
export type TargetServer = {
  /**
   * Opens the state and the session on the first call; they stay open while the target is in use. `lock` replaces the way
   * the state's lock is taken, for example to wait for it.
   */
  readonly connect: (rules: Rules, lock?: LockState) => Promise<TargetConnection>;
  /** Names the person who asks for the writes that follow; null where nobody does. */
  readonly actFor: (person: string | null) => void;
  /** Names the commit and the pass that the writes belong to that follow. */
  readonly writeFor: (revision: WriteRevision) => void;
  /** The open connection; null before the first `connect`. */
  readonly connection: () => TargetConnection | null;
  /** Gives the lock back, and ends the session when the work that still reads with it has ended; `connect` opens them again. */
  readonly disconnect: (reading: Promise<unknown>) => Promise<void>;
};

/** Takes the lock of a state. */
export type LockState = (state: State) => Promise<StateLock>;

/** An open state folder, and a session with a control plane. */
export type TargetConnection = {
  readonly session: ServerSession;
  readonly state: State;
  /** The lock of the state; null where the command only reads. */
  readonly lock: StateLock | null;
  /** Where the token of the session comes from. */
  readonly credential: TokenOrigin;
  /** The address of the control plane. */
  readonly url: string;
};

/** The rules by which live is read and a plan is made. */
export type PlanRules = {
  readonly ignore: readonly IgnoreRule[];
  /** How many recorded resources may be missing from the source, or from live, at once. */
  readonly guards: ShrinkLimits;
  /** Override the shrink guard. */
  readonly allowShrink: boolean;
  /** Subjects whose writes count as this repository's own. */
  readonly writers: readonly string[];
  readonly concurrency: number;
};

/** The rules by which a plan is applied. */
export type ApplyRules = {
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  /** Wait for rollouts. */
  readonly wait: boolean;
  readonly failFast: boolean;
};

/** The rules of a pass. Precedence: flag > environment > configuration > default. */
export type Rules = PlanRules &
  ApplyRules & {
    readonly selection: Selection;
    /** The branch whose clean state a checkout must be in to be applied (see `checkoutFault`); null for any state. */
    readonly ref: string | null;
    /** Which manifests are accepted. */
    readonly load: LoadRules;
    /** Treat warnings as errors. */
    readonly strict: boolean;
    /** Continue with the valid manifests when others are invalid. */
    readonly partial: boolean;
    /** Risks that block a step unless a user confirms them. */
    readonly refusedRisks: ReadonlySet<Risk>;
    /** Refused risks that the operator allows by flag. */
    readonly allowedRisks: readonly Risk[];
    /** Policies with the severity `confirm` that the operator allows by flag. */
    readonly allowedPolicies: readonly string[];
    /** The signatures that the operator demands of plans; null for none. */
    readonly approvals: ApprovalRule | null;
    /** The largest share of resources that a daemon updates in one pass; null for the default. */
    readonly updateShare: number | null;
    /** Check new resources with a dry run. */
    readonly dryRunsCreates: boolean;
    /** The number of commits of the repository's first-parent line that are read for resources without a record. */
    readonly history: number;
    readonly leaseScope: string | null;
    /** The maximum duration of a lease without renewal; null for one that outlives every request. */
    readonly maxLeaseMs: number | null;
    /** Time limit of the whole command in seconds; null for none. */
    readonly timeout: number | null;
  };
