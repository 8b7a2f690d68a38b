import type { WritePlan } from "../client/compose-request.ts";
import type { Approver } from "../contract/generated/output.ts";
import { stricterRule } from "../core/approvals/approval-rule.ts";
import { approvalsDemanded, requireApprovals } from "../core/approvals/require-approvals.ts";
import type { ApplyMode } from "./passes/apply-pass.ts";
import type { RedeployMode } from "./passes/redeploy-pass.ts";
import type { Rules } from "./target.ts";

/** Who has approved a plan, and what its writes say of that to the control plane. */
type ApprovedPlan = { readonly approvers: readonly Approver[]; readonly marks: WritePlan };

/** A pass by its mode, of which those that write have more. */
type AnyMode = ApplyMode | Pick<RedeployMode, "is"> | { readonly is: "other" };

/** Refuses a pass that writes without the approvals that its plan, or the operator, demands; null where neither does. */
export function approvedPlan(
  mode: AnyMode,
  { approvals: demanded }: Pick<Rules, "approvals">,
  now: number,
): ApprovedPlan | null {
  if (mode.is === "other") return null;
  const signed = mode.is === "apply" ? mode.signed : null;
  if (signed === null || mode.is !== "apply") {
    if (demanded === null) return null;
    throw approvalsDemanded(demanded, mode.is);
  }
  const rule = stricterRule(signed.approvals, demanded);
  if (rule === null) return null;
  const file = mode.approvals ?? { path: "", text: "" };
  const approvers = requireApprovals(signed.signature.content, { rule, file, now });
  return { approvers, marks: { planner: signed.plannedBy, approvers: approvers.map(({ name }) => name) } };
}
