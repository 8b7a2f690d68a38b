import { findingDiagnostic } from "../../core/guards/policy-guard.ts";
import type { LivePlan } from "../plan.ts";
import type { Run } from "../run.ts";

/** Warns of what policies with the severity `warn` find. */
export function warnOfFindings({ plan, findings }: LivePlan, { emit }: Pick<Run, "emit">): void {
  const steps = plan.steps.flatMap((step) => (findings.steps.get(step.identity) ?? []).map((one) => ({ one, step })));
  const found = [...findings.plan.map((one) => ({ one, step: null })), ...steps];
  const warnings = found.filter(({ one }) => one.severity === "warn");
  if (warnings.length > 0)
    emit({ what: "warned", warnings: warnings.map(({ one, step }) => findingDiagnostic(one, step)) });
}
