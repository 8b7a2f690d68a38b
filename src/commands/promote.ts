import { exitCodes } from "../core/errors.ts";
import { promotionReport } from "../render/promotion.ts";
import type { InvocationOf } from "./command.ts";
import type { promote } from "./declarations/promote.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { promotionTargets } from "./promote/find-promotion.ts";
import { proposalPlace, proposePromotion } from "./promote/propose.ts";
import { reportedPromotion } from "./promote/reported-promotion.ts";
import { findTargets } from "./targets/find-targets.ts";
import { writeResult } from "./terminal.ts";

/** Proposes the versions that are live and healthy in one target for another, as a pull request or a diff. */
export async function run(invocation: InvocationOf<typeof promote>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [from = "", to = "", ...ids] = args;
  const view = terminalViewOf(invocation);
  await using opened = await findTargets({ ...invocation, args: [] }, { reading: true });
  const targets = promotionTargets(opened, [from, to]);
  const isProposed = flags.dryRun !== true;
  // Without a forge or its token nothing is read.
  const place = isProposed ? proposalPlace(targets.to, opened.operator, invocation) : null;
  const emit = passNotices(invocation, view);
  const found = await reportedPromotion(targets, { ids, isProposed }, { ...terminal, emit });
  if ("what" in found) return endWithInvalidSource(found, invocation);
  const pullRequest = place === null ? null : await proposePromotion(found, targets, place, terminal);
  await writeResult(terminal, promotionReport({ ...found.report, pullRequest }, view));
  return found.report.refused.some(({ why }) => why === "invalid") ? exitCodes.partial : 0;
}
