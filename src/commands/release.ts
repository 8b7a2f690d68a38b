import { HoldfastError } from "../core/errors.ts";
import { isCommitPrefix } from "../core/holds.ts";
import { endHold } from "../daemon/carry-out.ts";
import { wrappedLines } from "../render/wrap.ts";
import type { InvocationOf } from "./command.ts";
import type { release } from "./declarations/release.ts";
import { holdable } from "./hold.ts";
import { findTarget } from "./targets/find-targets.ts";
import { columnsOn, writeResult } from "./terminal.ts";
import { sendToDaemon } from "./watch/send-to-daemon.ts";

/** Ends a hold, or allows a commit that no longer declares many of the recorded resources. */
export async function run(invocation: InvocationOf<typeof release>): Promise<number> {
  const { args, terminal } = invocation;
  const what = holdable(args[0] ?? "");
  await using target = await findTarget(
    { ...invocation, args: [] },
    {
      reading: true,
      unattended: true,
      usesRecordedTargets: true,
    },
  );
  const byDaemon = await sendToDaemon<boolean>({ is: "release", what }, target, terminal);
  const wasHeld = byDaemon ?? (await endHold(what, target.state, terminal.clock.now()));
  if (!wasHeld && !isCommitPrefix(what))
    throw new HoldfastError("invalid", `${what} is not held`, { hint: "holdfast status lists the holds" });
  await writeResult(terminal, wrappedLines(`released: ${what}\n`, columnsOn(terminal.stdout)));
  return 0;
}
