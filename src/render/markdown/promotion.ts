import type { PromotionReport } from "../../contract/generated/output.ts";
import { groupOf } from "../../core/kind.ts";
import type { Plan } from "../../core/plan/plan.ts";
import { kindsByType } from "../../kinds/index.ts";
import { count } from "../count-text.ts";
import { printable } from "../escape.ts";
import { cellCode, cellText, changeText } from "./change-cell.ts";
import { codeSpan } from "./code-markup.ts";
import { fittingRows } from "./fit-markdown.ts";
import { planMarkdown } from "./plan.ts";
import { refusedList } from "./refused-list.ts";

/** A promotion and its plans, for the text of a pull request. */
export type PromotionText = Pick<PromotionReport, "from" | "to" | "promoted" | "refused"> & {
  readonly plans: { readonly promotion: Plan; readonly revert: Plan };
};

/** The longest text that every forge takes, with room for the hidden marker. */
const MOST = 60_000;
/** So many of these are for the fields that change, and for what is not promoted; the plans have the rest. */
const MOST_FIELDS = 24_000;
const MOST_REFUSED = 12_000;
const MOST_ROWS = 100;
const MOST_AUTHORS = 3;
const ALL = "`holdfast promote --dry-run -o json` has all of them.";

/** The title of the pull request of a promotion. */
export function promotionTitle({ from, to, promoted }: Pick<PromotionReport, "from" | "to" | "promoted">): string {
  const [only] = promoted;
  const what = promoted.length === 1 && only !== undefined ? only.identity : count(promoted.length, "resource");
  return printable(`Promote ${from} to ${to}: ${what}`).slice(0, 200);
}

/** The text of the pull request of a promotion: what changes, since when it is healthy, who wrote it, and both plans. */
export function promotionMarkdown({ from, to, promoted, refused, plans }: PromotionText): string {
  const head = [
    `What is live and healthy in ${codeSpan(from)}, for ${codeSpan(to)}.`,
    changesTable({ from, to, promoted }),
    refusedList(refused, `**Not promoted: ${refused.length}**`, {
      rows: MOST_ROWS,
      characters: MOST_REFUSED,
      whole: ALL,
    }),
  ].filter((part) => part !== "");
  const room = MOST - head.join("\n\n").length;
  return `${[
    ...head,
    "## Plan of the promotion",
    planPart(plans.promotion, to, Math.floor(room / 2)),
    "## Plan of its revert",
    `What an apply does when this is reverted after ${codeSpan(to)} has applied it.`,
    planPart(plans.revert, to, Math.floor(room / 3)),
  ].join("\n\n")}\n`;
}

function planPart(plan: Plan, target: string, most: number): string {
  const view = { target, whole: ALL, detailOf: () => null };
  const text = planMarkdown(plan, {
    ...view,
    most: Math.max(most - 100, 1000),
    subject: "change",
    groupOf: (one) => groupOf(one, kindsByType),
  });
  return text.trimEnd();
}

function changesTable({ from, promoted }: Pick<PromotionText, "from" | "to" | "promoted">): string {
  const fields = promoted.flatMap((one) => one.changes.map((change) => ({ one, change })));
  const rows = fields.slice(0, MOST_ROWS).map(({ one, change }) => {
    const { label } = change;
    const { identity, from: source, since } = one;
    const name = source === identity ? codeSpan(identity) : `${codeSpan(identity)} from ${codeSpan(source)}`;
    const cells = [name, codeSpan(label), since === null ? "" : codeSpan(since), authorsText(one)].map(cellText);
    return `| ${cells.toSpliced(2, 0, changeText(change)).join(" | ")} |`;
  });
  const shown = fittingRows(rows, MOST_FIELDS);
  const left = fields.length - shown.length;
  const more = left === 0 ? [] : [`\nAnd ${count(left, "more field")}. ${ALL}`];
  return [
    `| Resource | Field | Change | Healthy in ${cellCode(from)} since | Written by |`,
    "| --- | --- | --- | --- | --- |",
    ...shown,
    ...more,
  ].join("\n");
}

function authorsText({ authors }: PromotionText["promoted"][number]): string {
  const shown = authors
    .slice(0, MOST_AUTHORS)
    .map(({ author, commit }) => `${codeSpan(author)} in ${codeSpan(commit.slice(0, 12))}`);
  const left = authors.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`${left} more`])].join(", ");
}
