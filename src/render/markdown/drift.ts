import { compareText } from "../../contract/json.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { count, joinCounts } from "../count-text.ts";
import { orphanParagraphs } from "../orphans.ts";
import { incompleteMarkdown, incompleteTitle } from "../report-notes.ts";
import { codeElement, codeSpan } from "./code-markup.ts";
import { diagnosticsMarkdown } from "./diagnostics.ts";
import { fitMarkdown } from "./fit-markdown.ts";
import type { PlanMarkdownView } from "./plan.ts";
import { registryOnlyBlocks } from "./registry-only.ts";
import { driftRow } from "./resource-row.ts";

/** A drift report as Markdown: the verdict, and each drifted resource with its last writer and time. */
export function driftMarkdown(
  { server, complete, summary, drift, diagnostics, history, registryOnly }: DriftReport,
  { groupOf, target, ...view }: Pick<PlanMarkdownView, "groupOf" | "target" | "most" | "whole">,
): string {
  const { drifted, unrecorded, absent, orphan, invalid, unchanged, unknown, notVisible } = summary;
  const declared = drifted + unrecorded + absent + unchanged + unknown;
  const moved = joinCounts([
    [drifted, "drifted"],
    [unrecorded, "unrecorded"],
    [absent, "absent"],
  ]);
  const rest = joinCounts([
    [unknown, "unknown"],
    [invalid, "invalid"],
    [orphan, orphan === 1 ? "orphan" : "orphans"],
    [unchanged, "unchanged"],
  ]);
  const on = target === null ? "Control plane" : `Target ${codeSpan(target)}, control plane`;
  // What was not seen may differ.
  const none = complete && unknown === 0 ? "no drift" : "no drift found";
  const head = [
    `### Holdfast: ${moved === "" ? none : moved}${incompleteTitle(complete, notVisible, declared)}`,
    `${on} ${codeSpan(server)}.${rest === "" ? "" : ` ${rest}.`}`,
    ...(complete ? [] : [incompleteMarkdown(summary, declared)]),
    ...diagnosticsMarkdown(diagnostics),
    ...orphanParagraphs(orphan - drift.filter(({ state }) => state === "orphan").length, history),
  ];
  const shown = drift.filter(({ state }) => state !== "unknown");
  const groups = [...Map.groupBy(shown, groupOf)]
    .toSorted(([a], [b]) => compareText(a ?? "", b ?? ""))
    .map(([group, entries]) => ({
      title: `${group === null ? "tenant" : codeElement(group)}: ${count(entries.length, "resource")}`,
      rows: entries.map((entry) => driftRow(entry, group)),
    }));
  const blocks = shown.length === 0 ? [] : [{ heading: "#### Before → live", groups }];
  return fitMarkdown(head.join("\n\n"), [...blocks, ...registryOnlyBlocks(registryOnly)], view);
}
