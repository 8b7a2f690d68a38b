import { exitCodes, HoldfastError } from "../core/errors.ts";
import { reconcile } from "../engine/reconcile.ts";
import { recordsText } from "../render/records.ts";
import type { InvocationOf } from "./command.ts";
import type { adopt } from "./declarations/adopt.ts";
import { refuseSource } from "./failure-report.ts";
import { outputOptionsOf } from "./output-options.ts";
import { reportPass } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";

/** Records what is live of declared resources, and writes nothing to the control plane. */
export async function run(invocation: InvocationOf<typeof adopt>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const isAll = flags.all ?? false;
  if (isAll === args.length > 0) {
    throw new HoldfastError("invalid", "adopt needs identities, or --all", {
      hint: "holdfast plan marks what it adopts",
    });
  }
  const selecting = { ...invocation, args: [], flags: { ...flags, only: args, partial: true } };
  await using target = await openTarget(selecting, { reading: false });
  const mode = { is: "adopt", identities: isAll ? null : new Set(args) } as const;
  const tell = reportPass(selecting, outputOptionsOf(invocation));
  const end = await reconcile(target, mode, { ...terminal, tell });
  if (end.what !== "records") return refuseSource(end, invocation);
  await writeResult(terminal, recordsText(end, { done: "adopted", stays: "nothing was written to the control plane" }));
  const isMissed = !isAll && end.left.some(({ why }) => why !== "is recorded already");
  return isMissed ? exitCodes.error : 0;
}
