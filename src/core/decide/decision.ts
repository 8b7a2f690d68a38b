import type { Danger, Risk } from "../../contract/generated/output.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import type { FieldDifference } from "../../model/differences.ts";
import type { Cause } from "../diff/field-cause.ts";
import type { CausedBy } from "../diff/step-cause.ts";
import type { Kind, LiveRow } from "../kind.ts";
import type { Live } from "../live.ts";
import type { Identity, Manifest } from "../manifest.ts";
import type { Action, Reason } from "../plan/plan.ts";
import type { Recorded } from "../recorded.ts";
import type { WriteCapabilities } from "./choose-write-operation.ts";

/** The reply of a dry run (a write with `dryRun`). */
export type DryRunReply =
  | { readonly state: "answered"; readonly row: LiveRow | null }
  /** `pointer`: the field of the manifest, when the server names it. */
  | {
      readonly state: "refused";
      readonly message: string;
      readonly pointer?: string | null;
      readonly code?: string | null;
    }
  | { readonly state: "forbidden" };

/** A reference that blocks a step, and the field that has it. */
export type BlockingReference = {
  readonly reason: Extract<Reason, "dependency" | "reference-absent" | "held">;
  readonly identity: Identity;
  readonly pointer: string;
};

/** What a comparison of a manifest with an earlier one needs. */
export type OwnCheck = {
  readonly kind: Kind;
  readonly manifest: Manifest;
  readonly dryRun: DryRunReply | null;
  readonly ignored: readonly (readonly string[])[];
};

/** The input of a decision on one manifest. */
export type DecisionInput = OwnCheck & {
  readonly live: Live;
  readonly recorded: Recorded | null;
  /** The manifest at the base commit, undefined when the base has none; null when no base is given. */
  readonly base: { readonly manifest: JsonObject | undefined } | null;
  /** The manifest that was applied last, for causes without a record; null when it is not known. */
  readonly applied: { readonly manifest: JsonObject | undefined } | null;
  /** Whether content or authors show that an unrecorded resource is this repository's own. */
  readonly isOwn: boolean;
  readonly capabilities: WriteCapabilities;
  readonly obstacle: BlockingReference | null;
  /** The least role that would show the resource, and where. */
  readonly roleThatShows: () => string;
  /** Whether a sink is configured for one-time tokens. */
  readonly hasSink: boolean;
  /** Why the files that the manifest names cannot be read; null if they can, or it names none. */
  readonly noFiles: string | null;
  /** Whether the record is too old, or not to be trusted, when live cannot be read. */
  readonly isStale: boolean;
};

/** A field that differs, and why. */
export type Difference = FieldDifference & {
  readonly cause: Cause;
  /** Whether the change under review caused it. */
  readonly isOfThisChange: boolean;
};

/** The result of comparing a manifest with live. */
export type Comparison = {
  /** The differing fields, including the server's own additions and rewrites. */
  readonly differences: readonly Difference[];
  /** The differing paths that keep live's value. */
  readonly ignored: readonly (readonly string[])[];
  readonly drifted: boolean;
  /** Live before and after the acted-on differences, in normal form: the two ends of the patch. */
  readonly before: Json | undefined;
  readonly after: Json | undefined;
};

/** What to do with one manifest. */
export type Decision = Comparison & {
  readonly action: Exclude<Action, "orphan">;
  readonly reason: Reason | null;
  /** The blocking reference, or the control plane's message when it refused, without the manifest's secrets. */
  readonly detail: string | null;
  /** JSON Pointer of the field that the detail is about; null when it is about the whole manifest. */
  readonly pointer: string | null;
  /** The risks of the action, each once. */
  readonly risks: readonly Risk[];
  /** What exactly is dangerous about the action. */
  readonly dangers: readonly Danger[];
  /** Who caused the action; null when nothing is done, or nothing changed. */
  readonly causedBy: CausedBy | null;
  /** Whether it is blocked so that only live stays as it is: what refers to it need not wait. @default false */
  readonly keepsLive?: boolean;
};
