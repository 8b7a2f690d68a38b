import type { PassEnd } from "../core/report/events.ts";
import { reconcile } from "../engine/reconcile.ts";
import { endApply } from "./apply/end-apply.ts";
import { openProgress } from "./apply/progress.ts";
import type { InvocationOf } from "./command.ts";
import type { redeploy } from "./declarations/redeploy.ts";
import { outputOptionsOf } from "./output/output-options.ts";
import { refuseSource } from "./output/refuse-source.ts";
import { reportPass } from "./output/report-pass.ts";
import { findTarget } from "./targets/find-targets.ts";
import { requireTargetConfirmed } from "./targets/require-target-confirmed.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Deploys applications again with the content that they have. */
export async function run(invocation: InvocationOf<typeof redeploy>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const identities = [...new Set(args)];
  const selecting = { ...invocation, args: [], flags: { ...flags, only: identities, partial: true } };
  const view = outputOptionsOf(invocation);
  using progress = await openProgress(invocation, view);
  const shown = { ...selecting, terminal: { ...terminal, stderr: progress.stderr } };
  await using target = await findTarget(shown, { reading: false });
  await requireTargetConfirmed(target, flags, terminal);
  const mode = {
    is: "redeploy",
    identities,
    force: flags.force ?? false,
  } as const;
  const command = { is: "redeploy", identities, force: mode.force } as const;
  const carriedOut = await sendToDaemon<PassEnd>(command, target, terminal);
  const end =
    carriedOut ?? (await reconcile(target, mode, { ...terminal, tell: progress.with(reportPass(shown, view)) }));
  progress[Symbol.dispose]();
  return end.what === "applied"
    ? await endApply({ ...end, places: new Map(end.places) }, invocation, { ...view, wasShown: progress.wasShown })
    : refuseSource(end, invocation);
}
