import { groupOf } from "../../core/kind.ts";
import type { PlanDocument } from "../../core/plan/read-plan-documents.ts";
import type { DriftReport } from "../../core/report/report.ts";
import { kindsByType } from "../../kinds/index.ts";
import { simulationMarkdown, simulationVerdict } from "../simulation.ts";
import { codeSpan } from "./code-markup.ts";
import { driftMarkdown } from "./drift.ts";
import { planMarkdown, planVerdict, stepsOf } from "./plan.ts";

/** Options for a comment on a pull request. */
export type ReviewView = {
  /** The head of the pull request. */
  readonly revision: string;
  readonly whole: string;
  /** Whether the plans come from an untrusted job. */
  readonly isUnverified: boolean;
  readonly most: number;
};

const SUBJECT = "pull request";

/** Maximum number of targets shown; the rest is counted. */
const MAX_PARTS = 100;

const UNVERIFIED =
  "**Unverified**: this was made by a job without secrets, which runs the code of this pull request. It may say anything.";

/** The comment on a pull request: a part for each target that it changes, or one line when it changes nothing. */
export function reviewMarkdown(documents: readonly PlanDocument[], view: ReviewView): string {
  const [quiet, touched] = [documents.filter(isQuiet), documents.filter((document) => !isQuiet(document))];
  const label = view.isUnverified ? [UNVERIFIED] : [];
  const names = quiet.flatMap(({ target }) => (target === null ? [] : [codeSpan(target)])).join(", ");
  const on = names === "" ? "" : ` on ${names}`;
  const none = quiet.length === 0 ? [] : [`Holdfast: no changes${on} at ${codeSpan(view.revision.slice(0, 12))}.`];
  const room = view.most - [...label, ...none].join("\n\n").length - 100;
  const share = Math.floor(room / Math.max(1, touched.length));
  const parts = touched.slice(0, MAX_PARTS).map((document) => {
    const part = partOf(document, { ...view, most: share });
    return part.length <= share ? part : lineOf(document);
  });
  const rest = touched.length - parts.length;
  const more = rest === 0 ? [] : [`And ${rest} more targets. ${view.whole}`];
  return `${[...label, ...parts.map((part) => part.trimEnd()), ...more, ...none].join("\n\n")}\n`;
}

/** The verdict on a target in one line, and whether it is good. */
export function reviewVerdict(document: PlanDocument): { readonly isGood: boolean; readonly text: string } {
  if (document.is === "simulation") {
    const { simulation } = document;
    return { isGood: simulation.change.refused.length === 0, text: `simulation: ${simulationVerdict(simulation)}` };
  }
  if (document.is === "drift") return { isGood: !hasMoved(document.report), text: "drift" };
  if (document.is === "failure") return { isGood: false, text: `no plan: ${document.failure.code}` };
  const { plan } = document;
  const isBlocked = stepsOf(plan, SUBJECT).own.some(({ action }) => action === "block");
  const isDenied = plan.steps.some(({ guard }) => guard?.isDenied === true);
  return {
    isGood: plan.complete && !isBlocked && !isDenied,
    text: planVerdict(plan, SUBJECT).replace(/^Holdfast: /, ""),
  };
}

// A target whose part does not fit gets only its verdict.
function lineOf(document: PlanDocument): string {
  const on = document.target === null ? "" : ` on ${codeSpan(document.target)}`;
  return `**Holdfast${on}**: ${reviewVerdict(document).text}`;
}

/** Whether a document is a plan that changes nothing and has nothing to say. */
export function isQuiet(document: PlanDocument): boolean {
  if (document.is !== "plan") return false;
  const { complete, steps, diagnostics } = document.plan;
  return complete && diagnostics.length === 0 && steps.every(({ action }) => action === "keep");
}

function partOf(document: PlanDocument, { whole, most }: ReviewView): string {
  const { target } = document;
  if (document.is === "plan") {
    const detailOf = () => null;
    return planMarkdown(document.plan, {
      target,
      whole,
      most,
      groupOf: resourceGroupOf,
      detailOf,
      subject: SUBJECT,
    });
  }
  if (document.is === "drift") return driftMarkdown(document.report, { target, whole, most, groupOf: resourceGroupOf });
  if (document.is === "simulation") return simulationMarkdown(document.simulation, most);
  const { code, message, hint } = document.failure;
  const on = target === null ? "" : `Target ${codeSpan(target)}: `;
  const next = hint === null ? "" : ` ${codeSpan(hint)}`;
  return [`### Holdfast: no plan`, `${on}${codeSpan(code)} ${codeSpan(message)}${next}`].join("\n\n");
}

function resourceGroupOf(one: { readonly identity: string }): string | null {
  return groupOf(one, kindsByType);
}

/** Whether a drift report shows any drift. */
export function hasMoved({ summary: { drifted, unrecorded, absent } }: DriftReport): boolean {
  return drifted + unrecorded + absent > 0;
}
