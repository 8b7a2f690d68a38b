import type { PassResult } from "../core/report/events.ts";
import { recordForced } from "../daemon/pass-recorder.ts";
import { reconcile } from "../engine/reconcile.ts";
import { openProgress } from "./apply/progress.ts";
import { showApplyResult } from "./apply/show-apply-result.ts";
import type { InvocationOf } from "./command.ts";
import type { redeploy } from "./declarations/redeploy.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findTarget, requireTargetConfirmed } from "./targets/find-targets.ts";
import { printedOn } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Deploys applications again with unchanged content. */
export async function run(invocation: InvocationOf<typeof redeploy>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const identities = [...new Set(args)];
  const selecting = { ...invocation, args: [], flags: { ...flags, only: identities, partial: true } };
  const view = terminalViewOf(invocation);
  using progress = await openProgress(invocation, view);
  const shown = { ...selecting, terminal: printedOn(progress.stderr, terminal) };
  await using target = await findTarget(shown, { reading: false });
  await requireTargetConfirmed(target, flags, terminal);
  const mode = {
    is: "redeploy",
    identities,
    force: flags.force ?? false,
    isForced: flags.allowWindow ?? false,
    allowedPolicies: flags.allowPolicy ?? [],
  } as const;
  const startedAt = terminal.clock.now();
  const byDaemon = await sendToDaemon<PassResult>(mode, target, terminal);
  const end =
    byDaemon ?? (await reconcile(target, mode, { ...terminal, emit: progress.with(passNotices(shown, view)) }));
  if (byDaemon === null) await recordForced(end, target, { startedAt, endedAt: terminal.clock.now() });
  progress[Symbol.dispose]();
  return end.what === "applied"
    ? await showApplyResult({ ...end, places: new Map(end.places) }, invocation, {
        ...view,
        wasShown: progress.wasShown,
      })
    : endWithInvalidSource(end, invocation);
}
