import { gateAnswerText } from "../../core/gates/content-gate.ts";
import { glyphs, notCheckedText, reasonText, type Step } from "../../core/plan/plan.ts";
import { findingText } from "../../core/policies/policy.ts";
import type { DriftEntry } from "../../core/report/report.ts";
import { count } from "../count-text.ts";
import { closedFirst, verdictText } from "../gate-verdict.ts";
import { orphanOrigin, orphansText, type ShownOrphan } from "../orphans.ts";
import { nameIn } from "../step.ts";
import { codeElement, codeSpan, fenced } from "./code-markup.ts";
import { fieldDiff } from "./field-diff.ts";
import type { ReviewSubject } from "./plan-blocks.ts";

/** Layout of the resources of a plan. */
export type ResourceRowView = {
  /** The group (workspace, repo) of a step's identity; null for the whole tenant. */
  readonly groupOf: (step: { readonly identity: string }) => string | null;
  /** Details of a step's reason: the blocking reference, or the control plane's message. */
  readonly detailOf: (step: Step) => string | null;
  /** Whether each step says why no dry run has checked it. @default false */
  readonly showPreflight?: boolean;
  readonly subject: ReviewSubject;
};

/** One step as a foldable row: its resource, its risks, and its differences. */
export function stepRow(step: Step, { groupOf, detailOf, subject, showPreflight = false }: ResourceRowView): string {
  const { action, identity, risks, causedBy, reason, notChecked, gates = [], policies = [] } = step;
  const isOwn = causedBy === "change" || causedBy === "mixed";
  const marks = [
    risks.length === 0 ? "" : `<b>${risks.join(" · ")}</b>`,
    causedBy === "mixed" ? "also reverts what is not part of this change" : "",
    isOwn || causedBy === null ? "" : `not from this ${subject}`,
    reason === null ? "" : reason,
    policies.some(({ severity }) => severity !== "warn") ? "<b>policy</b>" : "",
    placeOf(step.file, step.line),
  ];
  const detail = reason === null ? null : detailOf(step);
  const notes = [
    reason === null ? "" : `${reasonText[reason]}${detail === null ? "" : `: ${codeSpan(detail)}`}`,
    ...policies.map((one) => `${codeSpan(findingText(one))}.`),
    ...closedFirst(gates).map((gate) => `Gate ${codeSpan(gateAnswerText(gate))}: ${verdictText[gate.verdict]}.`),
    notChecked === undefined || !showPreflight ? "" : codeSpan(notCheckedText(notChecked)),
    writtenBy(step.changedBy),
    orphanNote(step),
  ];
  return row(`${glyphs[action]} ${codeElement(nameIn(groupOf(step), identity))}`, marks, notes, step);
}

/** One resource of a drift report as a foldable row. */
export function driftRow(entry: DriftEntry, group: string | null): string {
  const { identity, state, changes } = entry;
  const fields = changes.length === 0 ? "" : count(changes.length, "field");
  const head = `${state} ${codeElement(nameIn(group, identity))}`;
  return row(head, [fields, placeOf(entry.file, entry.line)], [writtenBy(entry.changedBy), orphanNote(entry)], entry);
}

// Names of authors are text of others.
function orphanNote(one: ShownOrphan): string {
  const origin = orphanOrigin(one);
  return origin === "" ? "" : `${codeSpan(origin)}: ${orphansText([one])}.`;
}

function row(
  head: string,
  marks: readonly string[],
  notes: readonly string[],
  { changes, file }: Pick<Step, "changes" | "file">,
): string {
  const summary = [head, ...marks].filter((part) => part !== "").join(" — ");
  const diff = fieldDiff(changes, file);
  const content = [
    ...notes.filter((note) => note !== ""),
    ...(diff.length === 0 ? [] : [fenced("diff", diff).join("\n")]),
  ];
  if (content.length === 0) return `<p>${summary}</p>`;
  return [`<details><summary>${summary}</summary>`, ...content, "</details>"].join("\n\n");
}

function placeOf(file: string | null, line: number | null): string {
  return file === null ? "" : codeElement(`${file}:${line ?? 1}`);
}

function writtenBy(changedBy: Step["changedBy"]): string {
  if (changedBy === undefined) return "";
  const { subject, at } = changedBy;
  const who = subject === null ? "" : ` by ${codeSpan(subject)}`;
  const when = at === null ? "" : ` at ${codeSpan(at)}`;
  return `Last written${who}${when}.`;
}
