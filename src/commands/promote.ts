import { promotionReport } from "../render/promotion.ts";
import type { InvocationOf } from "./command.ts";
import type { promote } from "./declarations/promote.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { passNotices } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { findPromotion, promotionTargets } from "./promote/find-promotion.ts";
import { inRepository } from "./promote/promoted-files.ts";
import { promotionReportOf } from "./promote/promotion-report.ts";
import { proposalPlace, propose } from "./promote/propose.ts";
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
  const found = await findPromotion(targets, ids, { ...terminal, emit, isProposed });
  if (!("promotion" in found)) return endWithInvalidSource(found, invocation);
  const files = await inRepository(found.promotion.files, targets.to, terminal);
  const report = await promotionReportOf(found, files, targets, terminal);
  const isDone = place === null || files.length === 0;
  const pullRequest = isDone ? null : await propose({ report, found, files }, targets, place, terminal);
  await writeResult(terminal, promotionReport({ ...report, pullRequest }, view));
  return 0;
}
