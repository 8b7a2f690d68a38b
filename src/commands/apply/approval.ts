import { HoldfastError } from "../../core/errors.ts";
import { type Plan, writes } from "../../core/plan/plan.ts";
import type { SignedPlan } from "../../core/plan/signed-plan.ts";
import type { PlanEvent } from "../../core/report/events.ts";
import type { Approval } from "../../engine/passes/apply-pass.ts";
import { planReport, type ReportView } from "../../render/pass-report.ts";
import { planPlace } from "../../render/plan.ts";
import { sentenceText } from "../../render/wrap.ts";
import type { Invocation } from "../command.ts";
import type { TerminalView } from "../output/terminal-view.ts";
import { confirm, type Terminal } from "../terminal.ts";

/** The first line of an apply: the control plane, the target and the commit. */
type ApplyHeader = {
  /** The plan that is carried out, unless it was shown with these already. */
  readonly agreed: (planned: PlanEvent) => void;
  /** Prints the line, once. */
  readonly print: () => void;
  /** Prints the line on stderr, before the error of a plan that is refused; once. */
  readonly printRefused: () => void;
};

/** Approves by the signed plan, by `--yes`, or by asking at the terminal. */
export function createApproval(
  { flags, terminal }: Invocation,
  view: TerminalView & ReportView,
  signed: SignedPlan | null,
  { agreed }: ApplyHeader,
): (planned: PlanEvent, located: () => Promise<Plan>) => Promise<Approval> {
  let promptedChecksum: string | null = null;
  return async (planned, located) => {
    const { plan } = planned;
    if (signed !== null || flags.yes) {
      agreed(planned);
      return { is: "agreed", allows: signed?.allows ?? null };
    }
    // A plan without writes needs no confirmation, but another writer can cause a second plan with writes.
    const isFirst = promptedChecksum === null;
    if (!isFirst && promptedChecksum !== plan.checksum) throw overtaken();
    promptedChecksum = plan.checksum;
    if (!isFirst || !plan.steps.some(writes)) return { is: "confirmed" };
    terminal.stderr.write(planReport({ ...planned, plan: await located(), notUsed: [] }, { ...view, output: "text" }));
    return { is: (await confirm("Apply this plan?", terminal)) ? "confirmed" : "declined" };
  };
}

function overtaken(): HoldfastError {
  return new HoldfastError("stale", "another writer has changed live since you were asked", { hint: "run it again" });
}

/** Creates the header; it goes where the outcomes go. */
export function createApplyHeader(
  { stdout, stderr }: Terminal,
  { output, width, target }: TerminalView & { readonly target: string | null },
): ApplyHeader {
  let text = "";
  const printOn = (stream: Terminal["stderr"]): void => {
    stream.write(text);
    text = "";
  };
  return {
    agreed: ({ plan, ...event }) => {
      text = sentenceText(`Applying to ${planPlace(plan, { ...event, target })}`, width);
    },
    print: () => printOn(output === "text" ? stdout : stderr),
    printRefused: () => printOn(stderr),
  };
}
