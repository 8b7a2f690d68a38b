// src/core/guards: what a plan may not do without consent. See docs/plan.md#what-is-dangerous.

import type { StepGuard } from "../../contract/generated/output.ts";
import type { Diagnostic } from "../diagnostic.ts";
import type { Risk, Step } from "../plan/plan.ts";
import type { PlanWithDecisions } from "../plan/plan-input.ts";
import { guardDetail, guardOf, LISTED } from "./step-guards.ts";

/** A step that guards refuse to an apply without a person. */
export type GuardedStep = { readonly step: Step; readonly guard: StepGuard };

/** The steps that guards refuse to an apply without a person: a plan predicts with them, an apply refuses by them. */
export function guardedSteps(
  { plan, decisions }: PlanWithDecisions,
  refused: ReadonlySet<Risk>,
): readonly GuardedStep[] {
  return plan.steps.flatMap((step) => {
    const decision = decisions.get(step.identity);
    const guard = decision === undefined ? null : guardOf(decision, refused);
    return guard === null ? [] : [{ step, guard }];
  });
}

/** What a guard says of a step, with the field that each message is about. */
export type GuardMessage = { readonly step: Step; readonly pointer: string | null; readonly diagnostic: Diagnostic };

/** One message for each danger, and one for all dangers of a step beyond the first ten. */
export function guardMessages({ step, guard: { dangers } }: GuardedStep): readonly GuardMessage[] {
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
