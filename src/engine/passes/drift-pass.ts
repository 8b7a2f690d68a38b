import { type DriftInput, makeDrift } from "../../core/report/drift-report.ts";
import type { DriftEvent } from "../../core/report/events.ts";
import { type Pass, planContextIn } from "../pass.ts";
import { type LivePlan, type PlanContext, planAgainstLive } from "../plan-against-live.ts";

/** Reports what has changed in live since it was recorded. */
export async function driftPass(pass: Pass, { isAtBase }: { readonly isAtBase: boolean }): Promise<DriftEvent> {
  const { desired } = pass.read;
  const recorded = await pass.connection.session.heads();
  const planContext = planContextIn(pass, recorded, { records: false, creates: "not-needed" });
  const livePlan = await planAgainstLive(desired, planContext);
  const report = makeDrift(driftInput(livePlan, planContext, { standsIn: recorded.size === 0 || isAtBase }));
  const unrecorded = desired.manifests.filter(({ identity }) => !recorded.has(identity)).length;
  return {
    what: "drifted",
    report: { ...report, ...(livePlan.reach === null ? {} : { history: livePlan.reach }) },
    notUsed: livePlan.notUsed,
    access: livePlan.access,
    unrecorded,
    selected: desired.manifests.length,
  };
}

function driftInput(
  { plan, decisions, observation, desired, waved, recorded, rulesFor, own, dryRuns, ...found }: LivePlan,
  context: PlanContext,
  { standsIn }: Pick<DriftInput, "standsIn">,
): DriftInput {
  return {
    ...context,
    standsIn,
    declared: desired.declared,
    refused: desired.refused,
    nameless: desired.nameless,
    desired: waved,
    live: observation.live,
    inSync: observation.inSync,
    recorded,
    rulesFor,
    own,
    dryRuns,
    complete: plan.complete,
    diagnostics: plan.diagnostics,
    orphans: found.orphans,
    removed: found.removed,
    elsewhere: found.elsewhere,
    base: desired.base,
    applied: null,
    planned: { plan, decisions },
  };
}
