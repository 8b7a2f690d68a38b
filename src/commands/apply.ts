import { resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { reconcile } from "../engine/reconcile.ts";
import { openProgress } from "./apply-progress.ts";
import { createApproval } from "./approval.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { apply } from "./declarations/apply.ts";
import { endApply } from "./end-apply.ts";
import { refuseSource } from "./failure-report.ts";
import { outputOptionsOf } from "./output-options.ts";
import { publisherOf } from "./publish-applied.ts";
import { readSealedPlan } from "./read-plan-file.ts";
import { reportPass } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { requireTargetConfirmed } from "./target-confirmation.ts";
import { isInteractive } from "./terminal.ts";

/** Updates the live resources to match the manifests. */
export async function run(invocation: InvocationOf<typeof apply>): Promise<number> {
  const { flags, terminal } = invocation;
  requireConsent(invocation);
  const view = outputOptionsOf(invocation);
  const sealed = flags.plan === undefined ? null : readSealedPlan(resolve(terminal.cwd, flags.plan));
  using progress = await openProgress(invocation, view);
  const shown = { ...invocation, terminal: { ...terminal, stderr: progress.stderr } };
  await using target = await openTarget(shown, { reading: false });
  await requireTargetConfirmed(target, invocation.flags, terminal);
  const approve = createApproval(invocation, { ...view, target: target.choice?.name ?? null }, sealed);
  const mode = { is: "apply", approve, sealed } as const;
  await using publisher = publisherOf(target, invocation);
  publisher.begin();
  const end = await reconcile(target, mode, { ...terminal, tell: progress.with(reportPass(shown, view)) });
  progress[Symbol.dispose]();
  if (end.what === "declined") {
    terminal.stderr.write("nothing was written\n");
    return 0;
  }
  if (end.what !== "applied") return refuseSource(end, invocation);
  // Awaited here: its failure must be caught before the target is closed.
  const code = await endApply(end, invocation, { ...view, wasShown: progress.wasShown });
  await publisher.publish(end);
  return code;
}

function requireConsent({ flags, terminal }: Invocation): void {
  if (flags.yes || flags.plan !== undefined || isInteractive(terminal)) return;
  throw new HoldfastError("invalid", "apply asks before it writes, and there is nobody to ask", {
    hint: "run it with --yes, or with --plan FILE",
  });
}
