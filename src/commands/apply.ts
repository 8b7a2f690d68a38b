import { resolve } from "node:path";
import type { PassEvent } from "../core/report/events.ts";
import { reconcile, refusalAt } from "../engine/reconcile.ts";
import { appliedRefPublisher } from "./apply/applied-ref-publisher.ts";
import { createApplyHeader, createApproval } from "./apply/approval.ts";
import { openProgress } from "./apply/progress.ts";
import { createApplyRecorder } from "./apply/record-apply.ts";
import { showApplyResult } from "./apply/show-apply-result.ts";
import type { InvocationOf } from "./command.ts";
import type { apply } from "./declarations/apply.ts";
import { readApprovalFile, readSignedPlan } from "./input/read-signed-plan.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passLog, passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { printedOn, requireConfirmable } from "./terminal.ts";

/** Updates the live resources to match the manifests. */
export async function run(invocation: InvocationOf<typeof apply>): Promise<number> {
  const { flags, terminal } = invocation;
  const isConfirmed = flags.yes || flags.plan !== undefined;
  requireConfirmable("apply", { isConfirmed, hint: "run it with --yes, or with --plan FILE" }, terminal);
  const view = terminalViewOf(invocation);
  const planPath = flags.plan === undefined ? null : resolve(terminal.cwd, flags.plan);
  const signed = planPath === null ? null : readSignedPlan(planPath);
  const approvals = planPath === null ? null : readApprovalFile(planPath, terminal.cwd);
  using progress = await openProgress(invocation, view);
  const shown = { ...invocation, terminal: printedOn(progress.stderr, terminal) };
  await using target = await findTarget(shown, { reading: false });
  await requireTargetConfirmed(target, invocation.flags, terminal);
  const targetView = { ...view, target: target.choice?.name ?? null };
  const header = createApplyHeader(terminal, targetView);
  const approve = createApproval(invocation, targetView, signed, header);
  const isForced = flags.allowWindow ?? false;
  const mode = { is: "apply", approve, signed, isForced, ...(approvals && { approvals }) } as const;
  await using publisher = appliedRefPublisher(target, invocation);
  publisher.begin();
  const recorder = await createApplyRecorder(target, terminal);
  // A log has the same events as that of a daemon, instead of the text.
  const show = progress.with(passLog(invocation) ?? passNotices(shown, view));
  const refusedAtStart = refusalAt(target, terminal.clock.now());
  let hasBegun = false;
  let commit: string | null = null;
  const emit = (event: PassEvent): void => {
    if (event.what === "read") commit = event.revision;
    if (event.what === "begun") {
      hasBegun = true;
      header.print();
      recorder.begun(event);
    }
    show(event);
  };
  const end = await reconcile(target, mode, { ...terminal, emit }).catch(async (error: unknown) => {
    header.printRefused();
    const overrides = { forced: mode.isForced ? refusedAtStart : null, overridden: target.order?.overridden() ?? null };
    if (hasBegun) await recorder.failed(error, commit, overrides);
    else await target.order?.release();
    throw error;
  });
  if (!hasBegun && end.what !== "applied") await target.order?.release();
  progress[Symbol.dispose]();
  if (end.what === "declined") {
    terminal.stderr.write("nothing was written\n");
    return 0;
  }
  if (end.what !== "applied") return endWithInvalidSource(end, invocation);
  header.print();
  await recorder.ended(end, target.order?.overridden() ?? null);
  await target.order?.observe({ commit: end.report.revision, applied: end }, terminal);
  // Before the result, which has the warning about a failure.
  await publisher.publish(end);
  return await showApplyResult(end, invocation, { ...view, wasShown: progress.wasShown });
}
