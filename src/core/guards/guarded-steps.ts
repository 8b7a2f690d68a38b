// src/core/guards: what a plan may not do without consent. See docs/plan.md#what-is-dangerous.

import type { PolicyFinding, StepGuard } from "../../contract/generated/output.ts";
import type { Diagnostic } from "../diagnostic.ts";
import { type Risk, type Step, writes } from "../plan/plan.ts";
import type { PlanWithDecisions } from "../plan/plan-input.ts";
import { NO_FINDINGS, type PolicyFindings, refusingFindings } from "../policies/policy.ts";
import { type AllowsPolicy, findingDiagnostic, withPolicyGuard } from "./policy-guard.ts";
import { guardDetail, guardOf, LISTED } from "./step-guards.ts";

/** A step that guards refuse to an apply without a person. */
export type GuardedStep = {
  readonly step: Step;
  readonly guard: StepGuard;
  /** The findings of policies that refuse it by itself, and not the whole plan. */
  readonly findings: readonly PolicyFinding[];
  /** Whether no flag allows one of its risks. */
  readonly needsPerson: boolean;
};

/** What is refused: the risks, and the policies that no flag allows. */
export type RefusedByGuards = { readonly risks: ReadonlySet<Risk>; readonly isAllowed: AllowsPolicy };

/** The steps that guards refuse to an apply without a person: a plan predicts with them, an apply refuses by them. */
export function guardedSteps(
  { plan, decisions, findings = NO_FINDINGS }: PlanWithDecisions & { readonly findings?: PolicyFindings },
  { risks, isAllowed }: RefusedByGuards,
): readonly GuardedStep[] {
  const whole = refusingFindings(findings.plan, isAllowed);
  return plan.steps.flatMap((step) => {
    const decision = decisions.get(step.identity);
    const ofRisks = decision === undefined ? null : guardOf(decision, risks);
    const refusing = writes(step) ? refusingFindings(findings.steps.get(step.identity) ?? [], isAllowed) : [];
    const guard = withPolicyGuard(ofRisks, writes(step) ? [...whole, ...refusing] : []);
    if (guard === null) return [];
    const needsPerson = (ofRisks?.flags.length ?? 0) < new Set(guard.dangers.map(({ risk }) => risk)).size;
    return [{ step, guard, findings: refusing, needsPerson }];
  });
}

/** What a guard says of a step, with the field that each message is about. */
export type GuardMessage = { readonly step: Step; readonly pointer: string | null; readonly diagnostic: Diagnostic };

/** One message for each danger, one for all dangers of a step beyond the first ten, and one for each policy. */
export function guardMessages({ step, guard: { dangers }, findings }: GuardedStep): readonly GuardMessage[] {
  const ofPolicies = findings.map((one) => ({ step, pointer: null, diagnostic: findingDiagnostic(one, step) }));
  return [...dangerMessages(step, dangers), ...ofPolicies];
}

function dangerMessages(step: Step, dangers: StepGuard["dangers"]): readonly GuardMessage[] {
  const [shown, others] = [dangers.slice(0, LISTED), dangers.slice(LISTED)];
  const groups = [...shown.map((danger) => [danger]), ...(others.length === 0 ? [] : [others])];
  return groups.map((some) => {
    const [first] = some;
    const { identity, file, line } = step;
    const summary = `${identity} ${guardDetail(some)}`;
    const place = { file, line, column: line === null ? null : 1 };
    return {
      step,
      pointer: first?.path ?? null,
      diagnostic: { severity: "error", code: first?.risk ?? "guard", summary, detail: null, ...place },
    };
  });
}
