import type { Risk } from "../../contract/generated/output.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import type { Shape } from "../../contract/manifest-shape.ts";
import type { FieldDifference } from "../diff/differences.ts";
import type { Cause } from "../diff/field-cause.ts";
import type { CausedBy } from "../diff/step-cause.ts";
import type { Kind, LiveRow } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity, Manifest } from "../manifest.ts";
import type { Action, Reason } from "../plan/plan.ts";
import type { Recorded } from "../recorded.ts";
import type { ServerFacts } from "./choose-write-operation.ts";

/** The reply of a dry run (a write with `dryRun`). */
export type DryRunReply =
  | { readonly state: "answered"; readonly row: LiveRow | null }
  /** `pointer`: where in the manifest, where the server tells. */
  | {
      readonly state: "refused";
      readonly message: string;
      readonly pointer?: string | null;
      readonly code?: string | null;
    }
  | { readonly state: "forbidden" };

/** A reference that keeps a step from being carried out. */
export type BlockingReference = {
  readonly reason: Extract<Reason, "dependency" | "reference-absent">;
  readonly identity: Identity;
};

/** Everything a decision on one manifest rests on. */
export type DecisionInput = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  readonly live: Live;
  readonly recorded: Recorded | null;
  readonly dryRun: DryRunReply | null;
  /** The manifest at the base commit, undefined where the base has none; null when no base is given. */
  readonly base: { readonly manifest: JsonObject | undefined } | null;
  /** The same at the commit that was applied last, which tells causes where nothing is recorded; null where none does. */
  readonly applied: { readonly manifest: JsonObject | undefined } | null;
  readonly serverFacts: ServerFacts;
  readonly ignored: readonly (readonly string[])[];
  readonly obstacle: BlockingReference | null;
  /** Whether it may be there although no list shows it, since nothing that it lies in is visible. */
  readonly isHidden: boolean;
  /** Whether a one-time token would be kept. */
  readonly hasSink: boolean;
  /** Whether the ledger's word is too old, or not to be trusted, where live cannot be read. */
  readonly isStale: boolean;
};

/** A field that differs, and why. */
export type Difference = FieldDifference & {
  readonly cause: Cause;
  /** Whether the change under review made it. */
  readonly isOfThisChange: boolean;
};

/** What to do with one manifest. */
export type Decision = {
  readonly action: Exclude<Action, "orphan">;
  readonly reason: Reason | null;
  /** Which reference is in the way, or what the control plane said where it refused, without the manifest's secrets. */
  readonly detail: string | null;
  /** JSON Pointer of the field that the detail is about; null where it is about the whole manifest. */
  readonly pointer: string | null;
  /** What differs, the server's own additions and rewrites included. */
  readonly differences: readonly Difference[];
  /** The paths that differ and are left as live has them. */
  readonly ignored: readonly (readonly string[])[];
  readonly drifted: boolean;
  /** Whether no list shows it, and this token might not see it. @default false */
  readonly isHidden?: boolean;
  /** What makes it dangerous. */
  readonly risks: readonly Risk[];
  /** Who caused what is done; null where nothing is, or nobody moved. */
  readonly causedBy: CausedBy | null;
  /** Live, and what the acted-on differences make of it, in normal form: the two ends of the patch. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};
