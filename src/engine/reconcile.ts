import type { PassEnd } from "../core/events.ts";
import { type ApplyMode, applyPass } from "./apply-pass.ts";
import { driftPass } from "./drift-pass.ts";
import type { Pass, PassContext } from "./pass.ts";
import { type PlanMode, planPass } from "./plan-pass.ts";
import { readDesired } from "./read-desired.ts";
import type { Target } from "./target.ts";

/** What a pass is made for. */
export type Mode = PlanMode | { readonly is: "drift" } | ApplyMode;

/** Makes one pass over a target: reads its source, compares it with live, and does what the mode says. */
export async function reconcile(target: Target, mode: Mode, context: PassContext): Promise<PassEnd> {
  const read = await readDesired(target, context);
  context.tell(read.event);
  if (read.event.isRefused) return read.event;
  const connection = await target.server.connect(read.rules);
  if (connection.state.isWritable) read.cacheWith(connection.state.key);
  const end = await passIn(mode, { connection, read, context }, target);
  context.tell(end);
  return end;
}

function passIn(mode: Mode, pass: Pass, { source }: Target): Promise<PassEnd> {
  switch (mode.is) {
    case "plan":
      return planPass(pass, mode);
    case "drift":
      return driftPass(pass, { isAtBase: source.base !== null });
    case "apply":
      return applyPass(pass, mode);
  }
}
