import type { SourceCache } from "../cache/source-facts-cache.ts";
import type { ShrinkLimits } from "../core/guards/mass-change-guards.ts";
import type { IgnoreRule } from "../core/ignore/ignore-rules.ts";
import type { Identity } from "../core/manifest.ts";
import type { Risk } from "../core/plan/plan.ts";
import type { Selection } from "../core/selection/select.ts";
import type { LoadRules } from "../manifests/load-manifests.ts";
import type { SourceOptions } from "../source/read-source.ts";
import type { SourceConfig } from "../source/read-source-config.ts";
import type { State, StateLocation, StateLock } from "../state/state.ts";
import type { ServerSession } from "./session.ts";

/** What a pass reconciles: a source with a control plane, remembered in a state folder, by rules. */
export type Target = {
  readonly source: TargetSource;
  /** What is known of the source from pass to pass; null where everything is to be read each time. */
  readonly sourceCache: SourceCache | null;
  readonly server: TargetServer;
  readonly state: StateLocation;
  /** What holds for a pass, by the configuration that its revision has. */
  readonly rules: (config: SourceConfig["repository"]) => Rules;
  /** Fails where another target of the same control plane declares one of these; absent where there is no other. */
  readonly claim?: (declared: ReadonlySet<Identity>) => Promise<void>;
};

/** Where manifests come from. */
export type TargetSource = Omit<SourceOptions, "limits"> & {
  /** Files and folders that are no part of it. */
  readonly ignore: readonly string[];
  /** The configuration that it had when the target was opened. */
  readonly config: SourceConfig;
  /** Fails where a configuration sets operator keys. */
  readonly accept: (config: SourceConfig) => void;
};

/** The control plane. */
export type TargetServer = {
  /**
   * Opens state and session the first time; they stay open as long as the target is used. `lock` takes the state's lock in its
   * own way, such as waiting for it.
   */
  readonly connect: (rules: Rules, lock?: LockState) => Promise<TargetConnection>;
  /** What is open; null before. */
  readonly connection: () => TargetConnection | null;
};

/** Takes the lock of a state. */
export type LockState = (state: State) => Promise<StateLock>;

/** An open state folder, and a session with a control plane. */
export type TargetConnection = {
  readonly session: ServerSession;
  readonly state: State;
  /** The writer before, where it ended without giving the state's lock back; null where it did. */
  readonly leftBy: string | null;
};

/** How a pass is made: by flag > environment > configuration > default. */
export type Rules = {
  readonly selection: Selection;
  /** The branch that a checkout must be at rest at to be applied; null for any state of it. */
  readonly ref: string | null;
  /** Which manifests are accepted. */
  readonly load: LoadRules;
  /** Warnings are errors. */
  readonly strict: boolean;
  /** Go on with the valid manifests when others are invalid. */
  readonly partial: boolean;
  readonly ignore: readonly IgnoreRule[];
  readonly guards: ShrinkLimits;
  /** Override the shrink guard. */
  readonly allowShrink: boolean;
  /** The risks that are not taken where nobody confirms them. */
  readonly refusedRisks: ReadonlySet<Risk>;
  /** Those that the operator allows by flag all the same. */
  readonly allowedRisks: readonly Risk[];
  /** Resources that a person holds, and why. */
  readonly held: ReadonlyMap<Identity, string>;
  /** The largest share of the resources that a daemon updates in one pass; null for the default. */
  readonly updateShare: number | null;
  /** Ask by dry run whether the server would take what is new. */
  readonly dryRunsCreates: boolean;
  readonly leaseScope: string | null;
  /** How long a lease lasts at most without renewal; null where it outlives every request. */
  readonly mostLeaseMs: number | null;
  readonly concurrency: number;
  readonly requestTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  /** Wait for rollouts. */
  readonly wait: boolean;
  readonly failFast: boolean;
  /** Seconds for the whole command; null where it may take any time. */
  readonly timeout: number | null;
};
