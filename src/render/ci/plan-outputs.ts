import { type Action, hasChanges, type Plan } from "../../core/plan/plan.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { planVerdict, stepsOf } from "../markdown/plan.ts";
import type { ReviewSubject } from "../markdown/plan-blocks.ts";

/**
 * The outputs of a plan for later steps of a job, each prefixed with the target's name. Of a pull request, the counts are
 * those of its own steps, and `rest` counts the others.
 */
export function planOutputs(
  plan: Plan,
  { target, subject }: { readonly target: string | null; readonly subject: ReviewSubject },
): readonly (readonly [name: string, value: string])[] {
  const { own, rest } = stepsOf(plan, subject);
  const number = (action: Action): string => String(own.filter((step) => step.action === action).length);
  const values = [
    ["create", number("create")],
    ["update", number("update")],
    ["block", number("block")],
    ["dangerous", String(own.filter(({ risks }) => risks.length > 0).length)],
    ["rest", String(rest.length)],
    ["changes", String(hasChanges(plan, "all"))],
    ["own-changes", String(hasChanges(plan, "change"))],
    ["complete", String(plan.complete)],
    ["verdict", planVerdict(plan, subject)],
  ] as const;
  return values.map(([name, value]) => [target === null ? name : `${target}-${name}`, value]);
}

/** The outputs of a drift report for later steps of a job. */
export function driftOutputs(
  { summary, complete }: Pick<DriftReport, "summary" | "complete">,
  target: string | null,
): readonly (readonly [name: string, value: string])[] {
  const { drifted, unrecorded, absent } = summary;
  const values = [
    ["drifted", String(drifted)],
    ["unrecorded", String(unrecorded)],
    ["absent", String(absent)],
    ["drift", String(drifted + unrecorded + absent > 0)],
    ["complete", String(complete)],
  ] as const;
  return values.map(([name, value]) => [target === null ? name : `${target}-${name}`, value]);
}
