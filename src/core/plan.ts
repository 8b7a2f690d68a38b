import type { Json } from "../contract/json.ts";
import type { Cause } from "./cause.ts";
import type { CausedBy } from "./caused-by.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Identity } from "./manifest.ts";
import type { Risk } from "./risk.ts";

/** What a step does; `keep`, `block` and `orphan` write nothing. */
export type Action = "create" | "update" | "keep" | "ensure" | "block" | "orphan";

/** Each action's glyph, the same in every output for people. */
export const glyphs: { readonly [action in Action]: string } = {
  create: "+",
  update: "~",
  keep: "=",
  block: "!",
  ensure: "?",
  orphan: "○",
};

/** Why a step is blocked, or how it came to be kept or ensured: a closed set, each explained by `reasonText`. */
export type Reason =
  | "read-only"
  | "dependency"
  | "reference-absent"
  | "immutable"
  | "version-gap"
  | "token-sink"
  | "model-version-write"
  | "refused"
  | "type-changed"
  | "unreadable"
  | "by-ledger"
  | "needs-write"
  | "guard";

/** One sentence for each reason: what holds the step, and what to do now. */
export const reasonText: { readonly [reason in Reason]: string } = {
  "read-only": "this control plane has no operation that writes this kind: change it there by hand",
  dependency: "what it refers to is blocked or invalid: fix that first",
  "reference-absent": "what it refers to is neither declared here nor live",
  immutable: "the content of a version never changes: declare the next version instead",
  "version-gap": "the number is further ahead than the next version",
  "token-sink": "its creation answers a one-time token: choose --sink file, or give it a secret_store_config",
  "model-version-write":
    "operation 5 is not known to register versions on this control plane: set modelVersionWrite: post when it registers versions",
  refused: "the control plane refuses this manifest",
  "type-changed":
    "an application of another type has this name, and a type never changes: choose another name, or remove that one first",
  unreadable: "live could not be read just now, so nothing is decided",
  "by-ledger": "live cannot be read; equal to what was last written",
  "needs-write": "live could be read only by a dry run, which this token may not ask for",
  guard: "a guard holds it back until a person allows it",
};

/** One field that differs, ready to be shown: values that could be secrets are masked. */
export type Change = {
  /** JSON Pointer in the manifest; an item of a keyed list is named by its key. */
  readonly path: string;
  readonly before: Json;
  readonly after: Json;
  readonly cause: Cause;
};

/** One resource of a plan. */
export type Step = {
  readonly action: Action;
  readonly kind: string;
  readonly identity: Identity;
  readonly file: string | null;
  readonly line: number | null;
  /** Depth in the reference graph, from 0. */
  readonly wave: number;
  readonly changes: readonly Change[];
  /** RFC 6902, from live to desired, on normalised values, masked like `changes`. */
  readonly patch: readonly Json[];
  readonly reason: Reason | null;
  /** What makes it dangerous. */
  readonly risks: readonly Risk[];
  /** Who caused it; null where nothing is done, or nobody moved. */
  readonly causedBy: CausedBy | null;
};

/** How many steps of each action, how many of them carry any drift, and how many any difference of which nobody knows the cause. */
export type PlanSummary = { readonly [action in Action]: number } & {
  readonly drift: number;
  readonly unrecorded: number;
};

/** The format of plans that this release writes and reads. */
export const PLAN_FORMAT = "1.0";

/** What `apply` would do, and why: pure data that can be saved, compared and hashed. */
export type Plan = {
  readonly format_version: typeof PLAN_FORMAT;
  readonly revision: string | null;
  readonly server: string;
  /** False when something readable could not be read; such a plan is shown but never applied. */
  readonly complete: boolean;
  readonly summary: PlanSummary;
  readonly steps: readonly Step[];
  readonly diagnostics: readonly Diagnostic[];
  /** The risks that the operator allows by flag; left out where that is none. */
  readonly allows?: readonly Risk[];
  readonly checksum: string;
};

/** Whether the step sends a write. */
export function writes({ action }: Pick<Step, "action">): boolean {
  return action === "create" || action === "update" || action === "ensure";
}

/** Which changes count where a plan is asked whether there are any: those of the change under review, or all. */
export type Gate = "change" | "all";

/** Whether a plan has a step that counts: it creates, updates or is blocked, and for `change` it is caused by that. */
export function hasChanges({ steps }: Pick<Plan, "steps">, gate: Gate): boolean {
  return steps.some(({ action, causedBy }) => {
    const isCounted = action === "create" || action === "update" || action === "block";
    return isCounted && (gate === "all" || causedBy === "change" || causedBy === "mixed");
  });
}

/** Counts the steps by action; drift counts on its own, since a drifted step has an action too. */
export function summarise(steps: readonly Step[], drift: number): PlanSummary {
  const count = { create: 0, update: 0, keep: 0, ensure: 0, block: 0, orphan: 0 };
  let unrecorded = 0;
  for (const step of steps) {
    count[step.action] += 1;
    if (isUnrecorded(step)) unrecorded += 1;
  }
  return { ...count, drift, unrecorded };
}

function isUnrecorded({ causedBy, changes }: Step): boolean {
  return causedBy === "unrecorded" || changes.some(({ cause }) => cause === "unrecorded");
}
