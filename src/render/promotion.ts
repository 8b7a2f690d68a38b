import type { PromotionReport } from "../contract/generated/output.ts";
import { changeLines } from "./change.ts";
import { count, joinCounts } from "./count-text.ts";
import { diffText, pullRequestText } from "./drift-proposal.ts";
import { jsonText, printable } from "./escape.ts";
import type { OutputFormat } from "./output-format.ts";
import type { Paint } from "./paint.ts";
import { wrappedLines } from "./wrap.ts";

/** Layout of the report of a promotion. */
export type PromotionView = { readonly output: OutputFormat; readonly width: number; readonly paint: Paint };

/** The report of a promotion: what is promoted, what is not, with the reason, and what became of the pull request. */
export function promotionReport(report: PromotionReport, { output, width, paint }: PromotionView): string {
  if (output === "json") return jsonText(report);
  const lines = [
    ...report.promoted.flatMap((one) => promotedLines(one, { paint, width })),
    ...report.refused.map(({ identity, detail }) => `  not promoted  ${printable(identity)}: ${printable(detail)}`),
  ];
  const text = wrappedLines(lines.map((line) => `${line}\n`).join(""), width);
  // A diff that is wrapped cannot be applied.
  const diffs = report.pullRequest === null ? report.files.map(diffText).join("") : "";
  return text + diffs + wrappedLines(`${summaryText(report)}\n`, width);
}

function promotedLines(
  { identity, from, file, changes, since, authors }: PromotionReport["promoted"][number],
  view: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const of = from === identity ? "" : `  from ${printable(from)}`;
  return [
    `${view.paint("yellow", "~")} ${printable(identity)}  ${view.paint("dim", printable(file))}${of}`,
    ...changeLines(changes, { ...view, by: null }),
    ...(since === null ? [] : [`    healthy since ${printable(since)}`]),
    ...authors.map(({ commit, author, at }) => `    commit ${commit.slice(0, 12)} of ${printable(author)}, ${at}`),
  ];
}

function summaryText({ from, to, summary, pullRequest }: PromotionReport): string {
  const way = `${printable(from)} to ${printable(to)}`;
  const { promoted, unchanged, refused } = summary;
  const rest = joinCounts([
    [unchanged, "unchanged"],
    [refused, "not promoted"],
  ]);
  const others = rest === "" ? "" : `, ${rest}`;
  const head = `Promotion of ${way}: ${promoted === 0 ? "nothing to promote" : count(promoted, "resource")}${others}`;
  if (pullRequest === null) return head;
  return `${head}; ${pullRequestText(pullRequest)}`;
}
