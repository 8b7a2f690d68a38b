import type { Diagnostic } from "../core/diagnostic.ts";
import { exitCodes } from "../core/errors.ts";
import type { PassEvent } from "../core/report/events.ts";
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
  const notify = passNotices(invocation, view);
  const told = new Map<string, Diagnostic>();
  const emit = (event: PassEvent): void =>
    notify(event.what === "read" ? { ...event, selected: tellOnce(event.selected, told) } : event);
  const found = await reportedPromotion(targets, { ids, isProposed }, { ...terminal, emit });
  if ("what" in found) return endWithInvalidSource(found, invocation);
  const { promoted, refused } = found.report;
  // What is left of some identities alone, or may be left in a moment, says nothing of the open pull request.
  const isNothingLeft = promoted.length === 0 && ids.length === 0 && !isUnsettled(found.report);
  const end = isNothingLeft ? withdrawPromotion : proposePromotion;
  const pullRequest = place === null ? null : await end(found, targets, place, terminal);
  tellOnce(terminal.warnings.all(), told);
  const report = { ...found.report, pullRequest, diagnostics: [...told.values()] };
  await writeResult(terminal, promotionReport(report, view));
  return refused.some(({ why }) => why === "invalid") ? exitCodes.partial : 0;
}

// Both targets may read the same files.
function tellOnce(found: readonly Diagnostic[], told: Map<string, Diagnostic>): readonly Diagnostic[] {
  const news = found.filter((one) => !told.has(JSON.stringify(one)));
  for (const one of news) told.set(JSON.stringify(one), one);
  return news;
}
