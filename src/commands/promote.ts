import { exitCodes } from "../core/errors.ts";
import { promotionReport } from "../render/promotion.ts";
import type { InvocationOf } from "./command.ts";
import type { promote } from "./declarations/promote.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { promotionTargets } from "./promote/find-promotion.ts";
import { isUnsettled, proposalPlace, proposePromotion, withdrawPromotion } from "./promote/propose.ts";
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
  const { promoted, refused } = found.report;
  // What is left of some identities alone, or may be left in a moment, says nothing of the open pull request.
  const isNothingLeft = promoted.length === 0 && ids.length === 0 && !isUnsettled(found.report);
  const end = isNothingLeft ? withdrawPromotion : proposePromotion;
  const pullRequest = place === null ? null : await end(found, targets, place, terminal);
  await writeResult(terminal, promotionReport({ ...found.report, pullRequest }, view));
  return refused.some(({ why }) => why === "invalid") ? exitCodes.partial : 0;
}
