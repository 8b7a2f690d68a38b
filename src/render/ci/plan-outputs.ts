import { hasChanges, type Plan } from "../../core/plan/plan.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { planVerdict } from "../markdown/plan.ts";

/** The outputs of a plan for later steps of a job, each prefixed with the target's name. */
export function planOutputs(plan: Plan, target: string | null): readonly (readonly [name: string, value: string])[] {
  const { create, update, block } = plan.summary;
  const values = [
    ["create", String(create)],
    ["update", String(update)],
    ["block", String(block)],
    ["dangerous", String(plan.steps.filter(({ risks }) => risks.length > 0).length)],
    ["changes", String(hasChanges(plan, "all"))],
    ["own-changes", String(hasChanges(plan, "change"))],
    ["complete", String(plan.complete)],
    ["verdict", planVerdict(plan)],
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
