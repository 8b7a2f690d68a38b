import type { JsonObject } from "../../contract/json.ts";
import type { WriteCapabilities } from "../decide/choose-write-operation.ts";
import type { Decision, DryRunReply } from "../decide/decision.ts";
import type { OwnContent } from "../decide/own-content.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { PlanGuards } from "../guards/step-guards.ts";
import type { RuleFinder } from "../ignore/ignore-rules.ts";
import type { InvalidManifest } from "../invalid-manifest.ts";
import type { Kinds } from "../kind.ts";
import type { LiveView } from "../live.ts";
import type { Identity, ManifestHead } from "../manifest.ts";
import type { RecordedHead } from "../recorded.ts";
import type { Removal } from "../removal.ts";
import type { Sight } from "../sight.ts";
import type { Plan } from "./plan.ts";

/** A manifest and its depth in the reference graph. */
export type WavedManifest = { readonly manifest: ManifestHead; readonly wave: number };

/** What decides which resources are orphans. */
export type OrphanInput = {
  /** Every identity that the whole source declares, valid or not. */
  readonly declared: ReadonlySet<Identity>;
  /** Those of the whole source that do not say what they declare. */
  readonly nameless: readonly InvalidManifest[];
  readonly live: LiveView["live"];
  /** Every record, opened when a decision depends on it. */
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  /** Manifests at the base commit; null when no base is given. */
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  /** Manifests at the commit applied last, when they replace missing records; null otherwise. */
  readonly applied: ReadonlyMap<Identity, JsonObject> | null;
  /** Identities that the history of the repository declared, with the commits that removed them. */
  readonly removed: ReadonlyMap<Identity, Removal>;
  /** Identities that other targets of the control plane declare. */
  readonly elsewhere: ReadonlySet<Identity>;
};

/** The input of a plan; the same input always gives the same plan. */
export type PlanInput = OrphanInput & {
  readonly inSync: LiveView["inSync"];
  readonly server: string;
  readonly revision: string | null;
  /** The selected manifests, each after everything it refers to. */
  readonly desired: readonly WavedManifest[];
  /** Those that the patches of the base make otherwise, as those make them. @default none */
  readonly underBasePatches?: ReadonlyMap<Identity, JsonObject>;
  /** Those that the selection does not name itself: others refer to them. @default none */
  readonly onlyReferredTo?: ReadonlySet<Identity>;
  /** Declared identities whose manifests were refused. */
  readonly invalid: ReadonlySet<Identity>;
  /** The selected manifests that are refused. */
  readonly refused: readonly InvalidManifest[];
  readonly dryRuns: ReadonlyMap<Identity, DryRunReply>;
  readonly kinds: Kinds;
  readonly capabilities: WriteCapabilities;
  /** The subjects whose writes count as ours, by id or as reports show them. */
  readonly writers: ReadonlySet<string>;
  /** Unrecorded resources that are this repository's own. */
  readonly own: ReadonlyMap<Identity, OwnContent>;
  /** What the token may see. */
  readonly sight: Sight;
  readonly rulesFor: RuleFinder;
  readonly hasSink: boolean;
  /** Why the files that manifests name cannot be read. @default none */
  readonly noFiles?: ReadonlyMap<Identity, string>;
  /** Epoch milliseconds; decides which ledger entries are still current. */
  readonly now: number;
  readonly complete: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** The guards that hold steps back when no person can confirm; null when a person confirms, or nothing is written. */
  readonly guards: PlanGuards | null;
  /** Resources whose content a gate has not passed, and why: no flag writes them. @default none */
  readonly closed?: ReadonlyMap<Identity, string>;
  /** Number of resources outside `desired` that are presumably in sync. @default 0 */
  readonly outOfScope?: number;
  /** Whether the plan lists orphans; where only a part of the source was selected, it counts them. */
  readonly orphans: "listed" | "counted" | "none";
};

/** A plan with the decisions behind its steps, by identity; resources known to be in sync have none. */
export type PlanWithDecisions = { readonly plan: Plan; readonly decisions: ReadonlyMap<Identity, Decision> };
