import type {
  Change,
  DriftProposalReport,
  HardwareChange,
  HistoryReach,
  ImportedResource,
  InterruptedWrite,
  NotPromoted,
  NotProposed,
  NotWritable,
  PlanSignature,
  RegistryOnly,
  ResourceVersion,
  SecretFingerprint,
  SecretUse,
  UnreadKind,
} from "../../contract/generated/output.ts";

import type { JsonObject } from "../../contract/json.ts";
import type { Access } from "../access.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { WriteRefusal } from "../guards/write-refusal.ts";
import type { Identity } from "../manifest.ts";
import type { MissingExtension } from "../missing-extensions.ts";
import type { OtherSummary } from "../other-documents.ts";
import type { BlockedStep } from "../plan/blocked-steps.ts";
import type { Plan, Step } from "../plan/plan.ts";
import type { PromotionCandidate } from "../promotion/promotion.ts";
import type {
  ApplyReport,
  DriftReport,
  Outcome,
  RecordsReport,
  ResolveReport,
  UnlockReport,
  WhyReport,
} from "./report.ts";

/** The source was read and validated. */
export type ReadEvent = {
  readonly what: "read";
  /** The commit that was read; null where the content has none. */
  readonly revision: string | null;
  /** Every diagnostic of the source. */
  readonly diagnostics: readonly Diagnostic[];
  /** Those of the selected files. */
  readonly selected: readonly Diagnostic[];
  /** Documents in the selected files that are not ours. */
  readonly otherDocuments: OtherSummary;
  /** The paths below its root from which manifests are read; null for everything. */
  readonly paths: readonly string[] | null;
  readonly files: number;
  /** The number of files that ignore files leave out, by the ignore file. */
  readonly leftOut: ReadonlyMap<string, number>;
  /** Set if there may be more of them. */
  readonly isLeftOutMore?: true;
  /** The commit that was read and its direct parent; left out when that is not known. */
  readonly follows?: { readonly commit: string; readonly parent: string };
  /** Number of files whose content was known from an earlier pass. */
  readonly knownFiles: number;
  /** Number of valid manifests. */
  readonly manifests: number;
  /** Number of documents that declare a resource, including invalid ones. */
  readonly documents: number;
  /** Whether the pass ends here because of errors. */
  readonly isRefused: boolean;
  /** Set where a policy has an error, so that nothing can be left out. */
  readonly hasFaultyPolicies?: true;
};

/** The source was refused; the pass continues with the last applied revision. */
export type KeptEvent = {
  readonly what: "kept";
  /** The commit of the kept revision; null when it has none. */
  readonly revision: string | null;
  /** Why, in one word. */
  readonly reason: string;
  readonly message: string;
  readonly hint: string | null;
  readonly diagnostics: readonly Diagnostic[];
};

/** Live resources that are neither declared nor recorded, and the kinds of which there may be more. */
export type Unmanaged = { readonly identities: readonly Identity[]; readonly unread: readonly UnreadKind[] };

/** A plan was made: the end of a plan pass, or what an apply pass is about to do. */
export type PlanEvent = {
  readonly what: "planned";
  readonly plan: Plan;
  /** The commit that the source differs from, and the number of changed files; left out when it does not differ. */
  readonly changedSince?: { readonly commit: string; readonly files: number };
  /** The branch of the work tree; left out when it has none. */
  readonly branch?: string;
  /** Number of differing fields that ignore rules cover. */
  readonly ignored: number;
  /** Details of a step's reason, by resource. */
  readonly details: ReadonlyMap<Identity, string>;
  /** Why and where each blocked step is blocked. */
  readonly blocked: readonly BlockedStep[];
  /** The extensions that the control plane lacks. */
  /** How far back the history was read for orphans; absent where it was not read. */
  readonly history?: HistoryReach;
  /** The versions that the registry holds and no manifest declares; absent where the pass did not look at the whole source. */
  readonly registryOnly?: readonly RegistryOnly[];
  readonly notUsed: readonly MissingExtension[];
  /** The token's subject and permissions; null when the control plane does not report them. */
  readonly access: Access | null;
  /** The steps that this token may not write, by the role that it lacks; left out when there are none, and before an apply. */
  readonly notWritable?: readonly NotWritable[];
  /** How the writes change what is reserved; left out where they do not, and before an apply. */
  readonly hardware?: HardwareChange;
  /** The active deployments that use a secret whose value a step changes; left out when there are none, and before an apply. */
  readonly secretUses?: readonly SecretUse[];
  /** The open writes of an earlier run, and what apply does about each; left out when there are none, and before an apply. */
  readonly interrupted?: readonly InterruptedWrite[];
  /** Why an apply without a person refuses the plan; null when it does not, and before an apply. */
  readonly refusal: GuardRefusal | null;
  /** The plan's signature; null when the plan is not saved, and when an apply would refuse it. */
  readonly signature: PlanSignature | null;
  /** The plan with the fields that only the server adds; null when not requested. */
  readonly withServerSide: Plan | null;
  /** What shows which values of secrets are equal; left out when not requested. */
  readonly fingerprints?: readonly SecretFingerprint[];
  /** Resources that are live but neither declared nor recorded; null when not requested. */
  readonly unmanaged: Unmanaged | null;
  /** The invalid manifests, which the plan leaves out; left out when there are none, and before an apply. */
  readonly invalid?: readonly Outcome[];
  /** Documents in the selected files that are not ours; left out when there are none, and before an apply. */
  readonly otherDocuments?: OtherSummary;
};

/** Why guards refuse a plan to an apply without a person, and what allows it. */
export type GuardRefusal = {
  readonly message: string;
  /** The flags that allow it. */
  readonly flags: readonly string[];
  /** Whether flags do not suffice: only a person at a terminal, or the configuration, allows it. */
  readonly needsPerson: boolean;
  /** Set where a policy denies it, so that neither a flag nor a person allows it. */
  readonly isDenied?: true;
  readonly diagnostics: readonly Diagnostic[];
};

/** Live was compared with the records: the end of a drift pass. */
export type DriftEvent = {
  readonly what: "drifted";
  readonly report: DriftReport;
  /** The versions that the registry holds and no manifest declares; absent where the pass did not look at the whole source. */
  readonly registryOnly?: readonly RegistryOnly[];
  readonly notUsed: readonly MissingExtension[];
  readonly access: Access | null;
  /** Number of selected resources without a record, whose manifests replace it. */
  readonly unrecorded: number;
  readonly selected: number;
  /** What is proposed for git; absent unless it was asked for. */
  readonly proposal?: DriftProposal;
  /** The same as reports show it, with what became of the pull request. */
  readonly proposed?: DriftProposalReport;
};

/** A plan was carried out: the end of an apply pass. */
export type ApplyEvent = {
  readonly what: "applied";
  readonly report: ApplyReport;
  readonly plan: Plan;
  /** Whether only a part of the source was processed, so that the report lists no outcomes for the rest. */
  readonly isPart: boolean;
  /** The locations of the delivered one-time tokens. */
  readonly tokens: readonly { readonly identity: Identity; readonly location: string }[];
  readonly notUsed: readonly MissingExtension[];
  /** How far back the history was read for orphans; absent where it was not read. */
  readonly history?: HistoryReach;
  /** `file:line:column` that each outcome's error is about. */
  readonly places: ReadonlyMap<Identity, string>;
  /** Why writes were refused, where a person wrote all the same; absent otherwise. */
  readonly forced?: WriteRefusal;
  readonly registryOnly?: PlanEvent["registryOnly"];
};

/** The progress of a pass. */
export type ProgressEvent =
  /** A long list is read; `rows` is the number of rows so far. */
  | { readonly what: "listing"; readonly kind: string; readonly rows: number }
  /** The writes of a plan begin: how many steps send one, and the id of the pass, which the writes name. */
  | { readonly what: "begun"; readonly steps: number; readonly pass?: string }
  | { readonly what: "started"; readonly step: Step }
  /** `place` is the `file:line:column` that an error is about. */
  | { readonly what: "finished"; readonly step: Step; readonly outcome: Outcome; readonly place: string | null }
  /** The files of a version are uploaded: how many bytes of how many are stored. */
  | { readonly what: "uploading"; readonly identity: Identity; readonly done: number; readonly total: number }
  | { readonly what: "rollout"; readonly step: Step; readonly status: string }
  /** No progress for some seconds: what the pass waits for, and until when. */
  | { readonly what: "waiting"; readonly text: string }
  /** A rollout that the pass did not wait for has ended; `rolloutStatus` is its last status if it was superseded. */
  | ({ readonly what: "rolled-out"; readonly identity: Identity } & Pick<Outcome, "rollout" | "rolloutStatus">)
  /**
   * The pass would be made from what an earlier one was made from, so what that one has reported follows. `isOwn`: this process has had the
   * pass before.
   */
  | { readonly what: "unchanged"; readonly isOwn: boolean };

/** Whether a lease excludes other writers. */
export type LeaseEvent =
  | { readonly what: "standing-by"; readonly message: string }
  | { readonly what: "taking-over" }
  | { readonly what: "lease-taken" }
  /** Whenever it is noticed, also between passes. */
  | { readonly what: "lease-lost"; readonly message: string }
  /** Warnings before a write: no lease, other writers that none excludes, or a plan signed with another key. */
  | { readonly what: "warned"; readonly warnings: readonly Diagnostic[] };

/** Records were added or removed, and live was not changed: the end of a pass over records. */
export type RecordsEvent = {
  readonly what: "records";
  readonly report: RecordsReport;
};

/** Open writes were inspected or closed: the end of a resolve pass. */
export type ResolvedEvent = {
  readonly what: "resolved";
  readonly report: ResolveReport;
};

/** Leases of dead holders were broken: the end of an unlock pass. */
export type UnlockedEvent = {
  readonly what: "unlocked";
  readonly report: UnlockReport;
};

/** The wanted, recorded and live value of one field: the end of a pass that explains it. */
export type WhyEvent = Pick<
  WhyReport,
  "server" | "identity" | "pointer" | "live" | "changes" | "changedSince" | "diagnostics"
> & {
  readonly what: "explained";
  /** The digest of what would be sent, which gates are asked about. */
  readonly content: string;
  /** The commit that has the file of the manifest as it was read; null if none does. */
  readonly revision: string | null;
  readonly wanted: Pick<WhyReport["wanted"], "value" | "file" | "line">;
  readonly written: Omit<NonNullable<WhyReport["written"]>, "commit" | "isUncommitted"> | null;
  /** When it was written or last confirmed equal, in epoch milliseconds; null when nothing is recorded. */
  readonly at: number | null;
  /** The newest versions, newest first; null where they cannot be read, left out where they are not asked for. */
  readonly versions?: readonly ResourceVersion[] | null;
};

/** A manifest made of a live resource, as it would be written. */
export type ImportedFile = {
  readonly identity: Identity;
  readonly kind: string;
  /** Its file, relative to the folder of the import. */
  readonly path: string;
  readonly text: string;
};

/** The changes to a manifest that make it say what is live. */
export type ManifestUpdate = {
  readonly identity: Identity;
  readonly kind: string;
  /** The file that declares it, as reports name it, and the first line of its document. */
  readonly file: string;
  readonly line: number;
  readonly before: JsonObject;
  readonly after: JsonObject;
  /** The fields that change, in the direction of the change; possible secrets are masked. */
  readonly changes: readonly Change[];
  /** Whether the file differs from the commit. */
  readonly isUncommitted: boolean;
};

/** Manifests were compared with live, and nothing was written: the end of an update pass. */
export type UpdatesEvent = {
  readonly what: "updates";
  readonly server: string;
  readonly updates: readonly ManifestUpdate[];
  /** Files of patches with their changes, and what these change. */
  readonly patches: { readonly files: readonly PromotedFile[]; readonly updates: readonly ManifestUpdate[] };
  /** The manifests that stay as they are. */
  readonly kept: readonly ImportedResource[];
};

/** Live resources were turned into manifests, and nothing was written: the end of an import pass. */
export type ImportEvent = {
  readonly what: "imported";
  readonly server: string;
  /** The manifests to write; in order. */
  readonly files: readonly ImportedFile[];
  /** The resources without a file to write: those that are declared, and those that no file may have. */
  readonly kept: readonly ImportedResource[];
  readonly unread: readonly UnreadKind[];
  /** What may exist and is not visible to the token; null where it sees everything. */
  readonly unseen: string | null;
  /** What the manifests refer to and neither the source nor they declare, though they declare others of the kind. */
  readonly undeclared: readonly Identity[];
  /** The paths below the root of the source from which manifests are read; null for everything. */
  readonly paths: readonly string[] | null;
};

/** The resources of a target were looked at, and nothing was written: the end of a pass that finds what can be promoted. */
export type PromotableEvent = {
  readonly what: "promotable";
  readonly server: string;
  /** The commit that has the manifests as they were read; null if none does. */
  readonly revision: string | null;
  readonly candidates: readonly PromotionCandidate[];
  readonly refused: readonly NotPromoted[];
};

/** A manifest of the target that is promoted to, its changes, and the file in which they are made: its own, or one of patches. */
export type PromotedManifest = ManifestUpdate & {
  /** Its identity once it is promoted: a version with a number gets another one. */
  readonly as: Identity;
  readonly from: PromotionCandidate;
};

/** A file of the target that is promoted to, before and after the promotion. */
export type PromotedFile = {
  /** Relative to the root of the source. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly isNew: boolean;
  /** Whether it contains secrets in plain text, so that no output may show its content. */
  readonly hasSecrets: boolean;
};

/** How the manifests of a target have to change to say what was changed in live. */
export type DriftProposal = {
  /** The commit that the changes are based on; null where the source is no commit. */
  readonly revision: string | null;
  /** The branch of the work tree; null if it has none. */
  readonly branch: string | null;
  readonly proposed: readonly ManifestUpdate[];
  readonly refused: readonly NotProposed[];
  readonly files: readonly PromotedFile[];
};

/** A promotion was planned, and nothing was written: the end of a pass over the target that is promoted to. */
export type PromotionEvent = {
  readonly what: "promotion";
  readonly server: string;
  /** The commit that was read; null if the source is no commit. */
  readonly revision: string | null;
  /** The branch of the work tree; null if it has none. */
  readonly branch: string | null;
  readonly promoted: readonly PromotedManifest[];
  readonly refused: readonly NotPromoted[];
  /** The number of candidates whose manifests are as they would be promoted. */
  readonly unchanged: number;
  /** What an apply of the promotion would do, and one of its revert after it; null when nothing is promoted. */
  readonly plans: { readonly promotion: Plan; readonly revert: Plan } | null;
  readonly files: readonly PromotedFile[];
};

/** The end of a pass. */
export type PassResult =
  | ImportEvent
  | UpdatesEvent
  | ReadEvent
  | PlanEvent
  | DriftEvent
  | ApplyEvent
  | RecordsEvent
  | ResolvedEvent
  | UnlockedEvent
  | WhyEvent
  | PromotableEvent
  | PromotionEvent
  /** The user declined: nothing was written. */
  | { readonly what: "declined" }
  /** The pass waited for the lease and everything may have changed since: nothing was done. */
  | { readonly what: "superseded" };

/** Everything that a pass reports, as plain data for a renderer. */
export type PassEvent = PassResult | KeptEvent | ProgressEvent | LeaseEvent;
