import type {
  PlanBlock,
  PlanGroup,
  PlanPart,
  PlanReply,
  PlanStepView,
  ReviewedPlan,
} from "../../contract/generated/output.ts";
import { compareText } from "../../contract/json.ts";
import { summaryText } from "../../core/diagnostic.ts";
import { gateAnswerText } from "../../core/gates/content-gate.ts";
import { POLICY } from "../../core/guards/policy-guard.ts";
import { groupOf } from "../../core/kind.ts";
import { reasonText, type Step } from "../../core/plan/plan.ts";
import type { PlanDocument } from "../../core/plan/read-plan-documents.ts";
import { findingText } from "../../core/policies/policy.ts";
import { sealOf } from "../../engine/signed-inputs.ts";
import { kindsByType } from "../../kinds/index.ts";
import { closedFirst, verdictText } from "../../render/gate-verdict.ts";
import { fieldDiff } from "../../render/markdown/field-diff.ts";
import { stepsOf } from "../../render/markdown/plan.ts";
import { blockOf, planBlocks } from "../../render/markdown/plan-blocks.ts";
import { isQuiet, reviewVerdict } from "../../render/markdown/review.ts";
import { orphanOrigin, orphansText } from "../../render/orphans.ts";
import { riskText } from "../../render/plan-notes.ts";
import { simulationLists } from "../../render/simulation.ts";
import { nameIn } from "../../render/step.ts";
import type { SealKey } from "../../seal/seal-key.ts";

/** A plan of a pull request as it was sent. */
export type SentPlan = Pick<ReviewedPlan, "forge" | "repository" | "pullRequest" | "url" | "commit" | "name"> & {
  /** Whether a job without secrets made it. */
  readonly isUnverified: boolean;
  readonly documents: readonly PlanDocument[];
};

/** So many characters of steps are kept of all targets together, which a page still shows quickly. */
const MAX_CHARACTERS = 400_000;
const MAX_PARTS = 100;
const MAX_NOTES = 20;
const MAX_TEXT = 500;

/** What is kept and shown of a plan: the steps of each target by cause, as far as they fit, and the rest counted. */
export function planView(
  { documents, isUnverified, ...about }: SentPlan,
  { id, at, keys }: { readonly id: string; readonly at: string; readonly keys: readonly SealKey[] },
): PlanReply {
  const plans = documents.flatMap((document) => (document.is === "plan" ? [document.plan] : []));
  const own = plans.flatMap((plan) => stepsOf(plan, "pull request").own);
  const number = (action: Step["action"]): number => own.filter((step) => step.action === action).length;
  const shown = documents.filter((document) => !isQuiet(document));
  const room = Math.floor(MAX_CHARACTERS / Math.max(1, Math.min(shown.length, MAX_PARTS)));
  const seals = new Map(documents.map((document) => [document, sealOfDocument(document, keys)]));
  const views = shown.slice(0, MAX_PARTS).map((document) => partOf(document, seals.get(document) ?? "none", room));
  return {
    plan: {
      id,
      at,
      ...about,
      verified: !isUnverified && [...seals.values()].every((seal) => seal === "valid"),
      isGood: documents.every((document) => reviewVerdict(document).isGood),
      targets: documents.length,
      counts: {
        create: number("create"),
        update: number("update"),
        ensure: number("ensure"),
        block: number("block"),
        orphan: number("orphan"),
      },
      others: plans.reduce((sum, plan) => sum + stepsOf(plan, "pull request").rest.length, 0),
    },
    parts: views.map(({ part }) => part),
    quiet: documents
      .filter(isQuiet)
      .slice(0, MAX_PARTS)
      .flatMap(({ target }) => (target === null ? [] : [cut(target)])),
    leftOut: shown.length - views.length + views.reduce((sum, view) => sum + view.leftOut, 0),
  };
}

function sealOfDocument(document: PlanDocument, keys: readonly SealKey[]): PlanPart["seal"] {
  // It was read from JSON, with fields that the type of a plan does not have.
  return document.is === "plan" ? sealOf(JSON.parse(JSON.stringify(document.plan)), keys) : "none";
}

type PartView = { readonly part: PlanPart; readonly leftOut: number };

function partOf(document: PlanDocument, seal: PlanPart["seal"], room: number): PartView {
  const { isGood, text } = reviewVerdict(document);
  const target = document.target === null ? null : cut(document.target);
  const about = { target, seal, verdict: text, isGood };
  const nothing = { server: null, revision: null, blocks: [] };
  switch (document.is) {
    case "plan": {
      const { server, revision, complete, policies = [] } = document.plan;
      // Findings in a step are with the step.
      const diagnostics = document.plan.diagnostics.filter(({ code }) => code !== POLICY);
      const { blocks, leftOut } = blocksOf(document.plan.steps, room);
      const notes = limited([...policies.map(findingText), ...diagnostics.map(diagnosticNote)]);
      const place = { server: cut(server), revision: revision === null ? null : cut(revision) };
      return { part: { ...about, is: "plan", ...place, complete, notes, blocks }, leftOut };
    }
    case "simulation": {
      const notes = simulationLists(document.simulation).flatMap(({ title, items }) =>
        limited(items.map(([subject, note]) => `${title}: ${subject}${note === "" ? "" : `: ${note}`}`)),
      );
      return { part: { ...about, ...nothing, is: "simulation", complete: true, notes: notes.map(cut) }, leftOut: 0 };
    }
    case "failure": {
      const { message, hint } = document.failure;
      const notes = [message, ...(hint === null ? [] : [hint])].map(cut);
      return { part: { ...about, ...nothing, is: "failure", complete: false, notes }, leftOut: 0 };
    }
    case "drift":
      // Whoever reads what is sent has refused it.
      throw new TypeError("a drift report belongs to no pull request");
  }
}

function diagnosticNote(diagnostic: Parameters<typeof summaryText>[0] & DiagnosticPlace): string {
  const { severity, file, line } = diagnostic;
  return `${severity}${file === null ? "" : ` in ${file}:${line ?? 1}`}: ${summaryText(diagnostic)}`;
}

type DiagnosticPlace = { readonly severity: string; readonly file: string | null; readonly line: number | null };

function limited(texts: readonly string[]): readonly string[] {
  const rest = texts.length - MAX_NOTES;
  return [...texts.slice(0, MAX_NOTES).map(cut), ...(rest > 0 ? [`and ${rest} more`] : [])];
}

function blocksOf(
  all: readonly Step[],
  most: number,
): { readonly blocks: readonly PlanBlock[]; readonly leftOut: number } {
  const steps = all.filter(({ action, reason }) => action !== "keep" || (reason !== null && reason !== "by-ledger"));
  const byBlock = Map.groupBy(steps, blockOf);
  let room = most;
  let isFull = false;
  let leftOut = 0;
  const viewThatFits = (step: Step, group: string | null): readonly PlanStepView[] => {
    const view = isFull ? null : stepView(step, group);
    room -= view === null ? 0 : JSON.stringify(view).length;
    // After one that does not fit none is taken, so that what is shown is a beginning.
    isFull ||= room < 0;
    leftOut += isFull ? 1 : 0;
    return view === null || isFull ? [] : [view];
  };
  const blocks = planBlocks.flatMap(({ name, title, explanation }): readonly PlanBlock[] => {
    const own = byBlock.get(name) ?? [];
    if (own.length === 0) return [];
    const says = name === "orphans" ? `These are ${orphansText(own)}.` : explanation;
    const groups = groupsOf(own).map(([group, members]): PlanGroup => {
      const shown = members.flatMap((step) => viewThatFits(step, group));
      return { group: group === null ? null : cut(group), resources: members.length, steps: shown };
    });
    return [
      { name, title, explanation: says, resources: own.length, groups: groups.filter((one) => one.steps.length > 0) },
    ];
  });
  return { blocks, leftOut };
}

// Dangerous groups come first, then the ones that others refer to.
function groupsOf(steps: readonly Step[]): readonly (readonly [group: string | null, steps: readonly Step[]])[] {
  return [...Map.groupBy(steps, (step) => groupOf(step, kindsByType))]
    .toSorted(([nameA, a], [nameB, b]) => rankOf(a) - rankOf(b) || compareText(nameA ?? "", nameB ?? ""))
    .map(([group, own]) => [group, own.toSorted((a, b) => safety(a) - safety(b))]);
}

function rankOf(steps: readonly Step[]): number {
  return steps.reduce((least, step) => Math.min(least, safety(step) * 1e6 + step.wave), Number.POSITIVE_INFINITY);
}

function safety({ risks }: Step): number {
  return risks.length > 0 ? 0 : 1;
}

function stepView(step: Step, group: string | null): PlanStepView {
  const { action, identity, file, line, risks, causedBy, changes } = step;
  return {
    identity: cut(nameIn(group, identity)),
    action,
    file: file === null ? null : cut(file),
    line,
    risks: risks.map((risk) => `${risk}: ${riskText[risk]}`),
    alsoReverts: causedBy === "mixed",
    notes: limited(notesOf(step)),
    diff: fieldDiff(changes, file),
  };
}

function notesOf(step: Step): readonly string[] {
  const { reason, gates = [], policies = [], changedBy } = step;
  const { subject = null, at = null } = changedBy ?? {};
  const by = [subject === null ? "" : ` by ${subject}`, at === null ? "" : ` at ${at}`].join("");
  const origin = orphanOrigin(step);
  return [
    ...(reason === null ? [] : [reasonText[reason]]),
    ...policies.map(findingText),
    ...closedFirst(gates).map((gate) => `Gate ${gateAnswerText(gate)}: ${verdictText[gate.verdict]}`),
    ...(by === "" ? [] : [`Last written${by}`]),
    ...(origin === "" ? [] : [origin]),
  ];
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`;
}
