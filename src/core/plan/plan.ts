// src/core/plan: plans as data, and signed ones. See docs/plan.md#signed-plans.

import type { Action, NotChecked, Plan, PlanSummary, Reason, Step } from "../../contract/generated/output.ts";

export type { Action, Change, Plan, PlanSummary, Reason, Risk, Step } from "../../contract/generated/output.ts";

/** Each action's glyph, the same in all text and Markdown output. */
export const glyphs: { readonly [action in Action]: string } = {
  create: "+",
  update: "~",
  keep: "=",
  block: "!",
  ensure: "?",
  orphan: "○",
};

/** One sentence for each reason: what blocks the step, and what to do now. */
export const reasonText: { readonly [reason in Reason]: string } = {
  "read-only": "this control plane has no operation that writes this kind: change it there by hand",
  dependency: "what it refers to is blocked or invalid: fix that first",
  "reference-absent": "what it refers to is neither declared here nor live",
  immutable: "the content of a version never changes: declare the next version instead",
  "version-gap": "the number is further ahead than the next version",
  "token-sink": "its creation answers a one-time token: choose --sink file, or give it a secret_store_config",
  "no-files": "the files that it names cannot be read here",
  "model-version-write":
    "POST /api/ml/v1/model-versions is not known to register versions on this control plane: set modelVersionWrite: post when it does",
  "create-only": "this control plane has no operation that changes what exists of this kind: change it there by hand",
  "secret-source": "a value that it names cannot be read, so nothing is written: correct secretSources of the operator",
  "not-compared": "its values were not compared: which ones are live is not known, and they cannot be written",
  refused: "the control plane refuses this manifest",
  disabled: "it was disabled for good and cannot be written: remove it from the source",
  "type-changed":
    "an application of another type has this name, and a type never changes: choose another name, or remove that one first",
  unreadable: "live could not be read, so nothing is decided",
  "by-ledger": "live cannot be read; equal to what was last written",
  forbidden: "it may exist; this token cannot see it",
  guard: "a guard holds it back until a person allows it",
  gate: "its content has not passed a gate of this target, which no flag skips",
  policy: "a policy refuses it: change what is declared, or allow it by hand where the policy lets a person",
  held: "it, or what it refers to, is on hold: holdfast release ends that",
};

const notCheckedTexts: { readonly [reason in Exclude<NotChecked["reason"], "depends-on">]: string } = {
  unproven: "not checked: dryRun unproven (not yet verified on this server to change nothing)",
  "needs-write": "not checked: needs write (the token may not request a dry run)",
  unsupported: "not checked: this kind has no dry run",
  unanswered: "not checked: the dry run failed",
  skipped: "not checked: --no-dry-run",
};

/** The reason why a step was not checked, as one phrase. */
export function notCheckedText(notChecked: NotChecked): string {
  const { reason, on = [] } = notChecked;
  return reason === "depends-on" ? `not dry-run: depends on ${on.join(", ")}` : notCheckedTexts[reason];
}

/** Whether the step sends a write. */
export function writes({ action }: { readonly action: Action }): boolean {
  return action === "create" || action === "update" || action === "ensure";
}

/** Whether a resource has changed in live since the last write. */
export function isDrifted({ changes }: Step): boolean {
  return changes.some(({ cause }) => cause === "drift" || cause === "conflict");
}

/** The changes that count when a plan is checked for changes: those of the change under review, or all. */
export type Gate = "change" | "all";

/** Whether a plan has a create, an update or a block; for `change`, one that the change under review caused. */
export function hasChanges({ steps }: Pick<Plan, "steps">, gate: Gate): boolean {
  return steps.some(({ action, causedBy }) => {
    const isCounted = action === "create" || action === "update" || action === "block";
    return isCounted && (gate === "all" || causedBy === "change" || causedBy === "mixed");
  });
}

/** Counts the steps by action, and the kept resources without a step. A drifted step also counts by its action. */
export function summarise(steps: readonly Step[], drift: number, others = 0): PlanSummary {
  const count = { create: 0, update: 0, keep: others, ensure: 0, block: 0, orphan: 0, refused: 0 };
  let unrecorded = 0;
  for (const step of steps) {
    count[step.action] += 1;
    if (isUnrecorded(step)) unrecorded += 1;
  }
  return { ...count, drift, unrecorded, invalid: 0 };
}

function isUnrecorded({ causedBy, changes }: Step): boolean {
  return causedBy === "unrecorded" || changes.some(({ cause }) => cause === "unrecorded");
}
