import { resolve } from "node:path";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import type { ApplyEvent } from "../core/events.ts";
import { OTHER_WRITER } from "../core/other-writer.ts";
import { reconcile } from "../engine/reconcile.ts";
import { diagnosticsText } from "../render/diagnostics.ts";
import { applyReport } from "../render/pass-report.ts";
import { tokensText } from "../render/tokens.ts";
import { createApproval } from "./approval.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { apply } from "./declarations/apply.ts";
import { refuseSource } from "./failure-report.ts";
import { type OutputOptions, outputOptionsOf } from "./output-options.ts";
import { readSealedPlan } from "./read-sealed-plan.ts";
import { reportPass } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { requireTargetConfirmed } from "./target-confirmation.ts";
import { isInteractive, writeResult } from "./terminal.ts";

/** Updates the live resources to match the manifests. */
export async function run(invocation: InvocationOf<typeof apply>): Promise<number> {
  const { flags, terminal } = invocation;
  requireConsent(invocation);
  const view = outputOptionsOf(invocation);
  const sealed = flags.plan === undefined ? null : readSealedPlan(resolve(terminal.cwd, flags.plan));
  const approve = createApproval(invocation, view, sealed);
  await using target = await openTarget(invocation, { reading: false });
  await requireTargetConfirmed(target, invocation.flags, terminal);
  const mode = {
    is: "apply",
    approve,
    sealed,
    lastGood: null,
    leader: null,
    stopWaiting: new AbortController().signal,
    onLeft,
  } as const;
  const end = await reconcile(target, mode, { ...terminal, tell: reportPass(invocation, view) });
  if (end.what === "declined") {
    terminal.stderr.write("nothing was written\n");
    return 0;
  }
  if (end.what !== "applied") return refuseSource(end, invocation);
  await report(end, invocation, view);
  // The report comes first; the interruption then sets the exit code.
  terminal.stopping.throwIfAborted();
  return exitCodeOf(end.report);
}

// Nothing aborts `stopWaiting` here, so no rollout outlasts the pass.
function onLeft(): void {}

function requireConsent({ flags, terminal }: Invocation): void {
  if (flags.yes || flags.plan !== undefined || isInteractive(terminal)) return;
  throw new HoldfastError("invalid", "apply asks before it writes, and there is nobody to ask", {
    hint: "run it with --yes, or with --plan FILE",
  });
}

async function report(end: ApplyEvent, { terminal }: Invocation, view: OutputOptions): Promise<void> {
  const errors = end.plan.diagnostics.filter(({ severity }) => severity === "error");
  terminal.stderr.write(tokensText(end.tokens) + diagnosticsText(errors, view.diagnosticView));
  await writeResult(terminal, applyReport(end, view));
}

/** 0 when all went well; 1 when nothing did; 7 in between; 8 when another writer took over. */
function exitCodeOf({ outcomes, summary }: ApplyEvent["report"]): number {
  if (
    outcomes.some(({ error }) => error?.status === 401 || error?.status === 403) &&
    summary.created + summary.updated === 0
  ) {
    return exitCodes.unauthorized;
  }
  if (outcomes.some(({ error }) => error?.status === 412 || error?.code === OTHER_WRITER)) return exitCodes.locked;
  const badRollouts = outcomes.filter(({ rollout }) => rollout === "failed" || rollout === "timeout").length;
  const bad = summary.failed + summary.blocked + summary.unknown + badRollouts;
  if (bad === 0) return 0;
  return bad >= outcomes.length && summary.created + summary.updated === badRollouts
    ? exitCodes.error
    : exitCodes.partial;
}
