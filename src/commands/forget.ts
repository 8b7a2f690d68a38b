import { reconcile } from "../engine/reconcile.ts";
import { recordsText } from "../render/records.ts";
import type { InvocationOf } from "./command.ts";
import type { forget } from "./declarations/forget.ts";
import { refuseSource } from "./failure-report.ts";
import { outputOptionsOf } from "./output-options.ts";
import { reportPass } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";

/** Drops the records of what is declared no more; what is live stays. */
export async function run(invocation: InvocationOf<typeof forget>): Promise<number> {
  const { args: identities, flags, terminal } = invocation;
  const whole = { ...invocation, args: [], flags: { ...flags, partial: true } };
  await using target = await openTarget(whole, { reading: false });
  const tell = reportPass(whole, outputOptionsOf(invocation));
  const end = await reconcile(target, { is: "forget", identities }, { ...terminal, tell });
  if (end.what !== "records") return refuseSource(end, invocation);
  const stays = "what is live of them stays, and nobody follows it any more";
  await writeResult(terminal, recordsText(end, { done: "forgotten", stays }));
  return 0;
}
