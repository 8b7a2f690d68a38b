import type { PromotionReport } from "../../contract/generated/output.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassEvent, PromotedFile, PromotionEvent, ReadEvent } from "../../core/report/events.ts";
import type { Terminal } from "../terminal.ts";
import { findPromotion, type PromotionTargets } from "./find-promotion.ts";
import { inRepository } from "./promoted-files.ts";
import { promotionReportOf } from "./promotion-report.ts";

/** A promotion that is not proposed yet. */
export type ReportedPromotion = {
  readonly report: PromotionReport;
  readonly promotion: PromotionEvent;
  /** The changed files by their paths in the repository. */
  readonly files: readonly PromotedFile[];
};

/** Looks at both targets, and reports what a promotion changes; a source that is refused ends it. Nothing is written. */
export async function reportedPromotion(
  targets: PromotionTargets,
  { ids, isProposed }: { readonly ids: readonly Identity[]; readonly isProposed: boolean },
  terminal: Terminal & { readonly emit: (event: PassEvent) => void },
): Promise<ReportedPromotion | ReadEvent> {
  const found = await findPromotion(targets, ids, { ...terminal, isProposed });
  if (!("promotion" in found)) return found;
  const { promotion } = found;
  const files = await inRepository(promotion.files, targets.to, terminal);
  return { report: await promotionReportOf(found, files, targets, terminal), promotion, files };
}
