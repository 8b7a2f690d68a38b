import type { Access } from "../access.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { ForeignSummary } from "../foreign-documents.ts";
import type { Identity } from "../manifest.ts";
import type { MissingExtension } from "../missing-extensions.ts";
import type { Plan, Step } from "../plan/plan.ts";
import type { SignedSeal } from "../plan/seal.ts";
import type {
  ApplyReport,
  DriftReport,
  Outcome,
  RecordsReport,
  ResolveReport,
  RolloutResult,
  UnlockReport,
  WhyReport,
} from "./report.ts";

/** The source was read and validated. */
export type ReadEvent = {
  readonly what: "read";
  /** Every diagnostic of the source. */
  readonly diagnostics: readonly Diagnostic[];
  /** Those of the selected files. */
  readonly selected: readonly Diagnostic[];
  /** What is not ours in the selected files. */
  readonly foreign: ForeignSummary;
  /** Where its manifests are read from, below its root; null for everything. */
  readonly paths: readonly string[] | null;
  readonly files: number;
  /** The commit that was read, and the one directly before it; left out where it is not known to be. */
  readonly follows?: { readonly commit: string; readonly parent: string };
  /** Those of the files whose content was known from an earlier pass. */
  readonly knownFiles: number;
  /** Manifests that are valid. */
  readonly manifests: number;
  /** Documents that declare a resource, invalid ones included. */
  readonly documents: number;
  /** Whether the pass ends here, because of errors. */
  readonly isRefused: boolean;
};

/** The source was refused, and the pass goes on with the last good revision. */
export type KeptEvent = {
  readonly what: "kept";
  /** The commit that is kept; null where it is none. */
  readonly revision: string | null;
  /** Why, in one word. */
  readonly reason: string;
  readonly message: string;
  readonly hint: string | null;
  readonly diagnostics: readonly Diagnostic[];
};

/** A plan was made: how a plan pass ends, and what an apply pass is about to do. */
export type PlanEvent = {
  readonly what: "planned";
  readonly plan: Plan;
  /** The commit that the source differs from, and in how many files; left out where it differs from none. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The branch of the work tree; left out where it is on none. */
  readonly branch?: string;
  /** How many differing fields an ignore rule covers. */
  readonly ignored: number;
  /** Details of a step's reason, by resource. */
  readonly details: ReadonlyMap<Identity, string>;
  /** The extensions that the control plane lacks. */
  readonly notUsed: readonly MissingExtension[];
  /** Whose token it is and what it may do; null where the control plane does not tell. */
  readonly access: Access | null;
  /** What the plan rests on; null where it is not kept. */
  readonly seal: SignedSeal | null;
  /** The plan with what only the server adds; null where nobody asked for it. */
  readonly withServerSide: Plan | null;
  /** What is live, but neither declared nor recorded; null where nobody asked for it. */
  readonly unmanaged: readonly Identity[] | null;
  /** What is not ours in the selected files; left out where all is, and before an apply. */
  readonly foreign?: ForeignSummary;
};

/** Live was compared with what is recorded: how a drift pass ends. */
export type DriftEvent = {
  readonly what: "drifted";
  readonly report: DriftReport;
  readonly notUsed: readonly MissingExtension[];
  readonly access: Access | null;
  /** How many of the selected resources have no record, so that their manifests stand in for it. */
  readonly unrecorded: number;
  readonly selected: number;
};

/** A plan was carried out: how an apply pass ends. */
export type ApplyEvent = {
  readonly what: "applied";
  readonly report: ApplyReport;
  readonly plan: Plan;
  /** Whether only a part of the source was looked at, so that the report lists no outcomes of the rest. */
  readonly isPart: boolean;
  /** Where one-time tokens went. */
  readonly tokens: readonly { readonly identity: Identity; readonly location: string }[];
  readonly notUsed: readonly MissingExtension[];
  /** `file:line:column` of what an outcome's error is about. */
  readonly places: ReadonlyMap<Identity, string>;
};

/** How an apply goes, step by step. */
export type ProgressEvent =
  /** The writes of a plan begin: how many steps send one. */
  | { readonly what: "begun"; readonly steps: number }
  | { readonly what: "started"; readonly step: Step }
  /** `place` is the `file:line:column` that an error is about. */
  | { readonly what: "finished"; readonly step: Step; readonly outcome: Outcome; readonly place: string | null }
  | { readonly what: "rollout"; readonly step: Step; readonly status: string }
  /** Nothing has happened for some seconds: what is waited for, and until when. */
  | { readonly what: "waiting"; readonly text: string }
  /** A rollout that the pass did not wait for has ended. */
  | { readonly what: "rolled-out"; readonly identity: Identity; readonly rollout: RolloutResult };

/** Whether a lease excludes other writers. */
export type LeaseEvent =
  /** Writes go on without a lease. */
  | { readonly what: "no-lease"; readonly scope: string; readonly why: string; readonly hasLeases: boolean }
  | { readonly what: "standing-by"; readonly message: string }
  | { readonly what: "taking-over" }
  /** Warnings before a write: of other writers where no lease excludes them, or of a plan that another key has sealed. */
  | { readonly what: "warned"; readonly warnings: readonly Diagnostic[] };

/** Records were made or dropped, and live was left as it is: how a pass over records ends. */
export type RecordsEvent = {
  readonly what: "records";
  readonly report: RecordsReport;
};

/** Open writes were looked at, or closed: how a pass over them ends. */
export type ResolvedEvent = {
  readonly what: "resolved";
  readonly report: ResolveReport;
};

/** Leases of dead holders were broken: how a pass over them ends. */
export type UnlockedEvent = {
  readonly what: "unlocked";
  readonly report: UnlockReport;
};

/** What is wanted, recorded and live of one value: how a pass that explains it ends. */
export type WhyEvent = Pick<WhyReport, "server" | "identity" | "pointer" | "live"> & {
  readonly what: "explained";
  readonly revision: string | null;
  readonly wanted: Pick<WhyReport["wanted"], "value" | "file" | "line">;
  readonly written: Omit<NonNullable<WhyReport["written"]>, "commit"> | null;
  /** When it was written or last seen equal, epoch milliseconds; null where nothing is recorded. */
  readonly at: number | null;
};

/** How a pass ends. */
export type PassEnd =
  | ReadEvent
  | PlanEvent
  | DriftEvent
  | ApplyEvent
  | RecordsEvent
  | ResolvedEvent
  | UnlockedEvent
  | WhyEvent
  /** The user declined: nothing was written. */
  | { readonly what: "declined" }
  /** The lease was waited for, and everything may have changed: nothing was done. */
  | { readonly what: "superseded" };

/** Everything that a pass reports, as plain data for a renderer. */
export type PassEvent = PassEnd | KeptEvent | ProgressEvent | LeaseEvent;
