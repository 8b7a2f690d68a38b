import { NOT_VISIBLE } from "../core/diagnostic.ts";
import type { Plan } from "../core/plan/plan.ts";
import type { DriftReport } from "../core/report/report.ts";
import { printable } from "./escape.ts";

/** The part of a report that says whether it is complete. */
type Completeness = {
  readonly complete: boolean;
  readonly summary: Pick<Plan["summary"] | DriftReport["summary"], "invalid" | "notVisible">;
  readonly diagnostics: Plan["diagnostics"];
};

const INVALID = "invalid manifests are left out";
const UNREAD = "live could not be read in full";

/** Why a report is incomplete, in brackets; empty when it is complete. */
export function incompleteText({ complete, summary, diagnostics }: Completeness): string {
  if (complete) return "";
  const hidden = diagnostics.filter(({ code }) => code === NOT_VISIBLE).map((one) => printable(one.summary));
  const reasons = [...hidden, ...(summary.invalid > 0 ? [INVALID] : [])];
  const isUnread = reasons.length === 0 || diagnostics.some(({ code }) => code === "unreadable");
  return ` (incomplete: ${[...reasons, ...(isUnread ? [UNREAD] : [])].join("; ")})`;
}

/** Why a report is incomplete, for a title, such as ` (incomplete: 13 of 48 not visible to this token)`. */
export function incompleteTitle(complete: boolean, notVisible: number | undefined, total: number): string {
  if (complete) return "";
  return notVisible === undefined ? " (incomplete)" : ` (incomplete: ${notVisibleText(notVisible, total)})`;
}

/** Why a report is incomplete, for Markdown: by its numbers, since its diagnostics stand elsewhere. */
export function incompleteMarkdown({ summary }: Pick<Completeness, "summary">, total: number): string {
  const { notVisible, invalid } = summary;
  const reasons = [
    ...(notVisible === undefined ? [] : [notVisibleText(notVisible, total)]),
    ...(invalid > 0 ? [INVALID] : []),
  ];
  return `**Incomplete**: ${reasons.length === 0 ? UNREAD : reasons.join("; ")}.`;
}

function notVisibleText(notVisible: number, total: number): string {
  return `${notVisible} of ${total} not visible to this token`;
}
