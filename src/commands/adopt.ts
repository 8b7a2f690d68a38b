import { exitCodes, HoldfastError } from "../core/errors.ts";
import { changeRecords } from "./change-records.ts";
import type { InvocationOf } from "./command.ts";
import type { adopt } from "./declarations/adopt.ts";

/** Records the live state of declared resources, and writes nothing to the control plane. */
export async function run(invocation: InvocationOf<typeof adopt>): Promise<number> {
  const { args, flags } = invocation;
  const isAll = flags.all ?? false;
  if (isAll === args.length > 0) {
    throw new HoldfastError("invalid", "adopt needs identities, or --all", {
      hint: "holdfast plan marks what it adopts",
    });
  }
  const selecting = { ...invocation, args: [], flags: { ...flags, only: args, partial: true } };
  const report = await changeRecords(selecting, { is: "adopt", identities: isAll ? null : new Set(args) });
  if (typeof report === "number") return report;
  const isMissed = !isAll && report.left.some(({ why }) => why !== "recorded");
  return isMissed ? exitCodes.error : 0;
}
