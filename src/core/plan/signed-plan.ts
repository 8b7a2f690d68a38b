import type { PlanSignature } from "../../contract/generated/output.ts";
import { canonical, isObject, type Json, type JsonObject } from "../../contract/json.ts";
import { type ApprovalRule, readApprovalRule } from "../approvals/approval-rule.ts";
import { HoldfastError } from "../errors.ts";
import { FORMAT_VERSION } from "../format-version.ts";
import type { Plan } from "./plan.ts";
import { planDigest } from "./sign-plan.ts";

/** A plan as stored in its file: its steps, what it shows, and its signed inputs. */
export type SignedPlan = {
  readonly revision: string | null;
  readonly server: string;
  readonly summary: JsonObject;
  /** The steps with an action other than keep, by identity. */
  readonly steps: ReadonlyMap<string, JsonObject>;
  readonly diagnostics: readonly Json[];
  /** The risks that flags allowed when the plan was made. */
  readonly allows: readonly string[];
  /** The signatures that the configuration demanded when the plan was made; null for none. */
  readonly approvals: ApprovalRule | null;
  /** Who made a plan that needs approvals; null where the control plane did not say. */
  readonly plannedBy: string | null;
  readonly signature: PlanSignature;
};

function incompleteText(summary: Json | undefined): string {
  if (isObject(summary) && summary.notVisible !== undefined) return "its token did not see everything";
  const isInvalid = isObject(summary) && typeof summary.invalid === "number" && summary.invalid > 0;
  return isInvalid ? "it leaves out invalid manifests" : "live could not be read when it was made";
}

/** Reads a signed plan from JSON. Throws for any other document, for an incomplete plan and for an edited one. */
export function parseSignedPlan(plan: unknown): SignedPlan {
  if (!isObject(plan) || !Array.isArray(plan.steps)) throw noPlan("it has no steps");
  const { format_version: format, revision, server, summary, diagnostics, steps } = plan;
  if (format !== FORMAT_VERSION) {
    throw noPlan(`its format is ${JSON.stringify(format) ?? "not named"}, and this release reads ${FORMAT_VERSION}`);
  }
  if (isObject(summary) && Number(summary.refused) > 0) throw refusedPlan(Number(summary.refused));
  if (plan.complete !== true) throw stale(`the plan is incomplete: ${incompleteText(summary)}`);
  const signature = readSignature(plan.seal);
  if (signature === null || typeof server !== "string" || !isObject(summary)) throw noPlan("it has no signature");
  if (signature.content !== planDigest(plan)) throw edited();
  const acting = steps.filter(isObject).filter(({ action }) => action !== "keep");
  return {
    revision: typeof revision === "string" ? revision : null,
    server,
    summary,
    steps: new Map(acting.map((step) => [String(step.identity), step])),
    diagnostics: Array.isArray(diagnostics) ? diagnostics : [],
    ...approvalsIn(plan),
    allows: Array.isArray(plan.allows) ? plan.allows.map(String) : [],
    signature,
  };
}

function approvalsIn({ approvals = null }: JsonObject): Pick<SignedPlan, "approvals" | "plannedBy"> {
  if (approvals === null) return { approvals, plannedBy: null };
  const rule = readApprovalRule(approvals);
  if (typeof rule === "string") throw noPlan(rule);
  const plannedBy = isObject(approvals) && typeof approvals.plannedBy === "string" ? approvals.plannedBy : null;
  return { approvals: rule, plannedBy };
}

function readSignature(seal: Json | undefined): PlanSignature | null {
  if (!isObject(seal) || typeof seal.key !== "string" || typeof seal.configuration !== "string") return null;
  const { source, secrets, live } = seal;
  if (!isObject(source) || !isObject(secrets) || !isObject(live)) return null;
  const texts = (digests: JsonObject) => Object.entries(digests).map(([name, digest]) => [name, String(digest)]);
  const stamps = Object.entries(live).map(([name, stamp]) => [name, typeof stamp === "string" ? stamp : null]);
  return {
    key: seal.key,
    configuration: seal.configuration,
    content: String(seal.content),
    signature: String(seal.signature),
    source: Object.fromEntries(texts(source)),
    secrets: Object.fromEntries(texts(secrets)),
    live: Object.fromEntries(stamps),
    ...(Array.isArray(seal.kept) ? { kept: seal.kept.map(String) } : {}),
  };
}

/** The error for a file that is not a plan of this version. */
export function noPlan(why: string, cause?: unknown): HoldfastError {
  return new HoldfastError("invalid", `that is no plan of this version: ${why}`, {
    hint: "make one with plan --out FILE",
    cause,
  });
}

function refusedPlan(refused: number): HoldfastError {
  return new HoldfastError("refused", `guards refuse ${refused === 1 ? "one step" : `${refused} steps`} of this plan`, {
    hint: "make it again with plan --out FILE and the flags that `guard` of its steps names",
  });
}

/** The error for an edited plan. */
export function edited(): HoldfastError {
  return stale("the plan was edited after it was made");
}

/** The error for a plan that can no longer be applied. */
export function stale(message: string): HoldfastError {
  return new HoldfastError("stale", message, { hint: "make it again with plan --out FILE" });
}

/** A step without the fields that depend on the checkout, the base or the records rather than on the action. */
export function bareStep(step: JsonObject): string {
  const {
    file: _file,
    line: _line,
    risks: _risks,
    guard: _guard,
    policies: _policies,
    causedBy: _causedBy,
    notChecked: _notChecked,
    changedBy: _changedBy,
    changes,
    ...rest
  } = step;
  return canonical({ ...rest, changes: Array.isArray(changes) ? changes.map(bareChange) : null });
}

function bareChange(change: Json): Json {
  if (!isObject(change)) return change;
  const { cause: _cause, file: _file, line: _line, ...rest } = change;
  return rest;
}

/** A step as plain JSON. */
export function stepJson(step: Plan["steps"][number]): JsonObject {
  return JSON.parse(JSON.stringify(step));
}
