import type { ApplyEvent, DriftEvent, PlanEvent } from "../core/events.ts";
import { groupOf } from "../core/kind.ts";
import { splitIdentity } from "../core/manifest.ts";
import type { NotUsed } from "../core/not-used.ts";
import type { Plan, Step } from "../core/plan.ts";
import { kindOf } from "../kinds/index.ts";
import { applyText } from "./apply.ts";
import { driftText } from "./drift.ts";
import { jsonText } from "./json.ts";
import type { Paint } from "./paint.ts";
import { planText, unmanagedText } from "./plan.ts";

/** How the end of a pass is shown. */
export type ReportView = {
  readonly output: "text" | "json";
  readonly paint: Paint;
  /** Show what does not change too. */
  readonly showUnchanged?: boolean;
};

/** The report of a plan. */
export function planReport(event: PlanEvent, { output, paint, showUnchanged = false }: ReportView): string {
  const { ignored, details, notUsed, unmanaged, withServerSide } = event;
  const plan = withServerSide ?? event.plan;
  if (output === "json") {
    const counted = ignored === 0 ? {} : { ignored };
    const shown = listed(plan, showUnchanged);
    // With what only the server adds, the steps are not those that would be done.
    const document = withServerSide === null ? sealed(shown, event) : shown;
    return jsonText({ ...document, ...counted, ...unmanagedIn(unmanaged), ...notUsedIn(notUsed) });
  }
  const group = (step: Step): string | null => groupOf(step, kindOf);
  const detailOf = ({ identity }: Step): string | null => details.get(identity) ?? null;
  const text = planText(plan, { paint, groupOf: group, detailOf, showUnchanged, ignored, notUsed });
  return unmanaged === null ? text : text + unmanagedText(unmanaged, paint);
}

/** A plan as its file stores it: without steps that do nothing. */
export function planFile(event: PlanEvent): string {
  return jsonText(sealed(listed(event.plan, false), event));
}

function sealed(plan: Plan, { seal }: PlanEvent): object {
  return seal === null ? plan : { ...plan, seal };
}

/** The report of a drift pass; `base` names the commit whose manifests stand in where nothing is recorded. */
export function driftReport(event: DriftEvent, base: string | null, { output, paint }: ReportView): string {
  const { report, notUsed, unrecorded, selected } = event;
  if (output === "json") return jsonText({ ...report, ...notUsedIn(notUsed) });
  const what = base === null ? "the manifests here" : `the manifests at ${base}`;
  const stand = `${unrecorded} of ${selected} have no record in this state folder: ${what} stand in for it`;
  return driftText(report, paint, unrecorded === 0 ? null : stand, notUsed);
}

/** The report of an apply. */
export function applyReport({ report, places, notUsed }: ApplyEvent, { output, paint }: ReportView): string {
  if (output === "json") return jsonText({ ...report, ...notUsedIn(notUsed) });
  return applyText(report, paint, ({ identity }) => places.get(identity) ?? null, notUsed);
}

// Unchanged resources are counted; they are listed on request, or where they have a note.
function listed(plan: Plan, showUnchanged: boolean): Plan {
  const isShown = ({ action, changes }: Step): boolean => action !== "keep" || showUnchanged || changes.length > 0;
  return { ...plan, steps: plan.steps.filter(isShown) };
}

function unmanagedIn(unmanaged: PlanEvent["unmanaged"]): object {
  if (unmanaged === null) return {};
  return { unmanaged: unmanaged.map((identity) => ({ identity, kind: splitIdentity(identity).kind })) };
}

// Left out where the control plane lacks nothing.
function notUsedIn(notUsed: readonly NotUsed[]): { readonly notUsed?: readonly NotUsed[] } {
  return notUsed.length === 0 ? {} : { notUsed };
}
