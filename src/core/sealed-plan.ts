import { createHash } from "node:crypto";
import { canonical, isObject, type Json } from "../contract/json.ts";
import { HoldfastError } from "./errors.ts";
import type { Plan } from "./plan.ts";

/** A plan as stored in its file: what it will do, and what it shows. */
export type SealedPlan = {
  readonly checksum: string;
  readonly shown: string;
  /** The risks that were allowed by flag when it was made. */
  readonly allows: readonly string[];
};

/** Reads a sealed plan from JSON; null for anything else. Fails for a plan that is incomplete. */
export function parseSealedPlan(plan: unknown): SealedPlan | null {
  if (!isObject(plan) || plan.format_version !== "1.0" || typeof plan.checksum !== "string") return null;
  if (plan.complete === true)
    return { checksum: plan.checksum, shown: shownBy(plan.steps ?? []), allows: textsIn(plan.allows) };
  throw new HoldfastError("stale", "the plan is incomplete: live could not be read when it was made", {
    hint: "make it again",
  });
}

/** A plan with the risks that are allowed by flag: its checksum vouches for them too. */
export function allowing(plan: Plan, allows: readonly string[]): Pick<Plan, "checksum"> {
  if (allows.length === 0) return plan;
  const both = canonical({ checksum: plan.checksum, allows });
  return { checksum: `sha256:${createHash("sha256").update(both).digest("hex")}` };
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Fails unless the plan is the sealed one. */
export function requireSealed(sealed: SealedPlan, plan: Plan): void {
  const current = plan.steps.filter(({ action }) => action !== "keep");
  // Whoever read the file agreed to what it shows: steps that were edited under an unchanged checksum are another plan.
  if (
    sealed.checksum === allowing(plan, sealed.allows).checksum &&
    sealed.shown === shownBy(JSON.parse(JSON.stringify(current)))
  )
    return;
  throw new HoldfastError("stale", "the plan is stale: manifests or live have changed since it was made", {
    hint: "make it again with plan --out FILE, and look at what changed; what plan was told to select, apply must be told too",
  });
}

// Where a manifest stands, why a field differs and what is dangerous depend on the checkout, on the base and on what is
// recorded, not on what is done.
function shownBy(steps: Json): string {
  return canonical(Array.isArray(steps) ? steps.map(bareStep) : steps);
}

function bareStep(step: Json): Json {
  if (!isObject(step)) return step;
  const { file: _file, line: _line, risks: _risks, causedBy: _causedBy, changes, ...rest } = step;
  return { ...rest, changes: Array.isArray(changes) ? changes.map(bareChange) : null };
}

function bareChange(change: Json): Json {
  if (!isObject(change)) return change;
  const { cause: _cause, ...rest } = change;
  return rest;
}
