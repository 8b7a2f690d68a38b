import type { PolicyFinding } from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { gateAnswerText } from "../../core/gates/content-gate.ts";
import { NOT_ADOPTED } from "../../core/guards/adoption.ts";
import { POLICY } from "../../core/guards/policy-guard.ts";
import type { Plan, Step } from "../../core/plan/plan.ts";
import { count, joinCounts } from "../count-text.ts";
import { printable } from "../escape.ts";
import { verdictText } from "../gate-verdict.ts";
import { orphanParagraphs, orphansText } from "../orphans.ts";
import {
  approvalTexts,
  hardwareTexts,
  interruptedTexts,
  notCheckedCounts,
  notWritableText,
  riskText,
  secretUseTexts,
} from "../plan-notes.ts";
import { incompleteMarkdown, incompleteTitle } from "../report-notes.ts";
import { guardCounts } from "../step.ts";
import { codeElement, codeSpan, fenced } from "./code-markup.ts";
import { diagnosticsMarkdown } from "./diagnostics.ts";
import { fitMarkdown, type MarkdownBlock, type MarkdownGroup } from "./fit-markdown.ts";
import { blockOf, type PlanBlockName, planBlocks, type ReviewSubject } from "./plan-blocks.ts";
import { registryOnlyBlocks } from "./registry-only.ts";
import { type ResourceRowView, stepRow } from "./resource-row.ts";

/** How a plan is shown as Markdown. */
export type PlanMarkdownView = ResourceRowView & {
  /** The name of the target; null when there is only one. */
  readonly target: string | null;
  /** Maximum number of characters. */
  readonly most: number;
  /** A notice where to find the whole report, in trusted Markdown. */
  readonly whole: string;
};

/** Maximum number of dangerous steps, and of steps with a closed gate, listed at the top; the rest is counted. */
const MAX_LISTED = 10;

// A comment has no plan that could be signed.
const PLAN_FILE = "`PLAN` is the file that `holdfast plan --out PLAN` writes.";

/** A plan for reviewers: verdict, counts and dangerous steps, then each resource by cause. */
export function planMarkdown(plan: Plan, view: PlanMarkdownView): string {
  const steps = plan.steps.filter(isShown);
  const notChecked = notCheckedCounts(steps);
  const head = [
    `### ${planVerdict(plan, view.subject)}`,
    `${placeText(plan, view.target)}${restText(plan)}`,
    ...(plan.complete
      ? []
      : [`${incompleteMarkdown(plan.summary, declaredIn(plan.summary))} This plan cannot be applied.`]),
    ...(steps.length === 0 ? [] : [countsTable(steps)]),
    ...policyList(plan, steps),
    ...closedGateList(steps),
    ...dangerText(steps),
    ...notAdoptedText(plan),
    ...diagnosticsMarkdown(plan.diagnostics.filter(({ code }) => code !== NOT_ADOPTED && code !== POLICY)),
    ...(notChecked === "" ? [] : [`${notChecked}.`]),
    ...[notWritableText(plan.notWritable ?? [], codeSpan)].flatMap((text) => (text === null ? [] : [`${text}.`])),
    ...secretUseTexts(plan.secretUses ?? [], codeSpan).map((text) => `${text}.`),
    ...hardwareTexts(plan.hardware, codeSpan).map((text) => `${text}.`),
    ...approvalTexts(plan.approvals, codeSpan).map((text) => `${text}. ${PLAN_FILE}`),
    ...interruptedTexts(plan.interrupted ?? [], codeSpan).map((text) => `${text}.`),
    ...orphanParagraphs(plan.summary.orphan - steps.filter(({ action }) => action === "orphan").length, plan.history),
  ];
  const byBlock = Map.groupBy(steps, blockOf);
  const blocks = planBlocks.flatMap(({ name, title, explanation }): MarkdownBlock[] => {
    const own = byBlock.get(name) ?? [];
    if (own.length === 0) return [];
    const says = name === "orphans" ? `These are ${orphansText(own)}.` : explanation;
    const heading = [`#### ${title}: ${count(own.length, "resource")}`, ...(says === null ? [] : [says])];
    return [{ heading: heading.join("\n\n"), groups: groupsOf(own, view) }];
  });
  return fitMarkdown(head.join("\n\n"), [...blocks, ...registryOnlyBlocks(plan.registryOnly)], view);
}

/** The steps that a review is about, and the others. */
export function stepsOf(
  plan: Plan,
  subject: ReviewSubject,
): { readonly own: readonly Step[]; readonly rest: readonly Step[] } {
  const shown = plan.steps.filter(isShown);
  if (subject === "change") return { own: shown, rest: [] };
  const { own = [], rest = [] } = Object.groupBy(shown, (step) => (blockOf(step) === "change" ? "own" : "rest"));
  return { own, rest };
}

/** The verdict of a plan, in one line: `Holdfast: 2 to create, 1 blocked; not from this pull request: 1 to update`. */
export function planVerdict(plan: Plan, subject: ReviewSubject): string {
  const { own, rest } = stepsOf(plan, subject);
  const [counts, others] = [countsText(own), countsText(rest)];
  const incomplete = incompleteTitle(plan.complete, plan.summary.notVisible, declaredIn(plan.summary));
  const apart = others === "" ? "" : `; not from this ${subject}: ${others}`;
  return `Holdfast: ${counts === "" ? "no changes" : counts}${apart}${incomplete}`;
}

function declaredIn({ create, update, keep, ensure, block }: Plan["summary"]): number {
  return create + update + keep + ensure + block;
}

function isShown({ action, reason }: Step): boolean {
  return action !== "keep" || (reason !== null && reason !== "by-ledger");
}

function placeText({ server, revision }: Plan, target: string | null): string {
  const at = revision === null ? "" : ` at commit ${codeSpan(revision.slice(0, 12))}`;
  const on = target === null ? "" : `Target ${codeSpan(target)}, `;
  return `${on}${on === "" ? "C" : "c"}ontrol plane ${codeSpan(server)}${at}.`;
}

function restText(plan: Plan): string {
  const { summary, ignored = 0 } = plan;
  const rest = joinCounts([
    ...guardCounts(plan),
    [summary.keep, "unchanged"],
    [summary.invalid, "invalid"],
    [ignored, ignored === 1 ? "field ignored" : "fields ignored"],
  ]);
  return rest === "" ? "" : ` ${rest}.`;
}

const columns = ["create", "update", "ensure", "block", "orphan"] as const;

function countsText(steps: readonly Step[]): string {
  const number = (action: Step["action"]): number => steps.filter((step) => step.action === action).length;
  const orphans = number("orphan");
  return joinCounts([
    [number("create"), "to create"],
    [number("update"), "to update"],
    [number("ensure"), "to ensure"],
    [number("block"), "blocked"],
    [orphans, orphans === 1 ? "orphan" : "orphans"],
  ]);
}

function countsTable(steps: readonly Step[]): string {
  const used = columns.filter((action) => steps.some((step) => step.action === action));
  const cells = (name: PlanBlockName): readonly string[] =>
    used.map((action) => String(steps.filter((step) => step.action === action && blockOf(step) === name).length));
  const rows = planBlocks
    .filter(({ name }) => name === "change" || steps.some((step) => blockOf(step) === name))
    .map(({ name, title }) => `| ${[title, ...cells(name)].join(" | ")} |`);
  return [`| | ${used.join(" | ")} |`, `| :-- |${used.map(() => " --: |").join("")}`, ...rows].join("\n");
}

function dangerText(steps: readonly Step[]): readonly string[] {
  const dangerous = steps.filter(({ risks }) => risks.length > 0);
  if (dangerous.length === 0) return [];
  const lines = dangerous.slice(0, MAX_LISTED).map(({ identity, risks }) => {
    return `- ${codeSpan(identity)}: ${risks.map((risk) => `**${risk}** ${riskText[risk]}`).join("; ")}`;
  });
  return [listText(`Dangerous: ${dangerous.length}`, lines, dangerous.length)];
}

// Those that refuse come first.
function policyList({ policies = [] }: Plan, steps: readonly Step[]): readonly string[] {
  const all = [
    ...policies.map((finding) => ({ finding, place: "the plan" })),
    ...steps.flatMap((step) =>
      (step.policies ?? []).map((finding) => ({ finding, place: `${codeSpan(step.identity)}${stepPlace(step)}` })),
    ),
  ];
  if (all.length === 0) return [];
  const isRefusing = ({ severity }: PolicyFinding): boolean => severity !== "warn";
  const ordered = [
    ...all.filter(({ finding }) => isRefusing(finding)),
    ...all.filter(({ finding }) => !isRefusing(finding)),
  ];
  const lines = ordered.slice(0, MAX_LISTED).map(({ finding, place }) => {
    const { name, severity, message, file, line } = finding;
    return `- **${severity}** ${place}: ${codeSpan(message)} (policy ${codeSpan(name)}, ${codeSpan(`${file}:${line}`)})`;
  });
  return [listText(`Policies: ${all.length}`, lines, all.length)];
}

function stepPlace({ file, line }: Pick<Step, "file" | "line">): string {
  return file === null ? "" : ` in ${codeSpan(`${file}:${line ?? 1}`)}`;
}

function closedGateList(steps: readonly Step[]): readonly string[] {
  const closed = steps.filter(({ reason }) => reason === "gate");
  if (closed.length === 0) return [];
  const lines = closed.slice(0, MAX_LISTED).map(({ identity, file, line, gates = [] }) => {
    const [first, ...others] = gates.filter(({ verdict }) => verdict !== "pass");
    const place = stepPlace({ file, line });
    const says = first === undefined ? "" : `: ${codeSpan(gateAnswerText(first))}: ${verdictText[first.verdict]}`;
    return `- ${codeSpan(identity)}${place}${says}${others.length === 0 ? "" : `, and ${others.length} more`}`;
  });
  return [listText(`Closed gates: ${closed.length}`, lines, closed.length)];
}

function listText(title: string, lines: readonly string[], all: number): string {
  const rest = all - lines.length;
  return [`**${title}**`, "", ...lines, ...(rest === 0 ? [] : [`- and ${rest} more`])].join("\n");
}

function notAdoptedText({ diagnostics }: Plan): readonly string[] {
  const found = diagnostics.filter(({ code }) => code === NOT_ADOPTED);
  return found.map(({ summary, detail }) => {
    // The commands are copied, so they are not shortened.
    const ways = (detail ?? "").split(", ").map(printable);
    return [`**NotAdopted**: ${codeSpan(summary.slice("NotAdopted: ".length))}.`, "", ...fenced("text", ways)].join(
      "\n",
    );
  });
}

// Dangerous groups come first, then the ones that others refer to.
function groupsOf(steps: readonly Step[], view: PlanMarkdownView): readonly MarkdownGroup[] {
  return [...Map.groupBy(steps, view.groupOf)]
    .toSorted(([nameA, a], [nameB, b]) => rankOf(a) - rankOf(b) || compareText(nameA ?? "", nameB ?? ""))
    .map(([group, own]) => ({
      title: `${group === null ? "tenant" : codeElement(group)}: ${countsText(own) || count(own.length, "resource")}`,
      rows: own.toSorted((a, b) => danger(a) - danger(b)).map((step) => stepRow(step, view)),
    }));
}

function rankOf(steps: readonly Step[]): number {
  return Math.min(...steps.map((step) => danger(step) * 1e6 + step.wave));
}

function danger({ risks }: Step): number {
  return risks.length > 0 ? 0 : 1;
}
