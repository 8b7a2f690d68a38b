import { HoldfastError } from "../../core/errors.ts";
import { writes } from "../../core/plan/plan.ts";
import type { SealedPlan } from "../../core/plan/sealed-plan.ts";
import type { PlanEvent } from "../../core/report/events.ts";
import type { Approval } from "../../engine/passes/apply-pass.ts";
import { planReport, type ReportView } from "../../render/pass-report.ts";
import type { Invocation } from "../command.ts";
import type { TerminalView } from "../output/terminal-view.ts";
import { allowedRisks } from "../targets/pass-rules.ts";
import { confirm } from "../terminal.ts";
import type { ApplyHeader } from "./apply-header.ts";

/** Decides whether a plan may be applied. */
export type Approve = (planned: PlanEvent) => Promise<Approval>;

/** Approves by the sealed plan, by `--yes`, or by asking at the terminal. */
export function createApproval(
  { flags, terminal }: Invocation,
  view: TerminalView & ReportView,
  sealed: SealedPlan | null,
  { agreed }: ApplyHeader,
): Approve {
  let promptedChecksum: string | null = null;
  return async (planned) => {
    const { plan } = planned;
    if (sealed !== null || flags.yes) {
      agreed(planned);
      return { is: "agreed", allows: sealed?.allows ?? allowedRisks(flags) };
    }
    // A plan without writes needs no confirmation, but another writer can cause a second plan with writes.
    const isFirst = promptedChecksum === null;
    if (!isFirst && promptedChecksum !== plan.checksum) throw overtaken();
    promptedChecksum = plan.checksum;
    if (!isFirst || !plan.steps.some(writes)) return { is: "confirmed" };
    terminal.stderr.write(planReport({ ...planned, notUsed: [] }, { ...view, output: "text" }));
    return { is: (await confirm("Apply this plan?", terminal)) ? "confirmed" : "declined" };
  };
}

function overtaken(): HoldfastError {
  return new HoldfastError("stale", "another writer has changed live since you were asked", { hint: "run it again" });
}
