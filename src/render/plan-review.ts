import { groupOf } from "../core/kind.ts";
import type { Plan } from "../core/plan/plan.ts";
import { coveredMembers } from "../core/plan/sign-plan.ts";
import { kindsByType } from "../kinds/index.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";
import { planText } from "./plan.ts";
import { approvalTexts } from "./plan-notes.ts";
import { linesText } from "./wrap.ts";

type ReviewView = {
  readonly paint: Paint;
  readonly width: number;
  readonly rows: number | null;
  readonly now: number | null;
};

/** A sealed plan as text for the person who is asked to sign it: nothing of the file that the signature does not cover. */
export function planReview(file: Plan, view: ReviewView): string {
  const { allows = [], approvals, ...covered } = coveredMembers(file);
  const plan = { ...covered, steps: file.steps.filter(({ action }) => action !== "keep") };
  const text = planText(plan, {
    ...view,
    groupOf: (step) => groupOf(step, kindsByType),
    detailOf: () => null,
    blocked: [],
    folds: true,
    showUnchanged: false,
    showPreflight: false,
    ignored: 0,
    next: null,
  });
  const said = [
    ...approvalTexts(approvals, printable),
    ...(approvals?.plannedBy === undefined ? [] : [`Planned by ${printable(approvals.plannedBy)}`]),
    ...(allows.length === 0 ? [] : [`Allowed by flags: ${allows.map(printable).join(", ")}`]),
  ];
  return text + said.map((line) => linesText(line, { indent: "", nextIndent: "  ", width: view.width })).join("");
}
