import { compareText } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import { notCheckedText } from "../core/not-checked.ts";
import type { NotUsed } from "../core/not-used.ts";
import { type Change, glyphs, type Plan, type PlanSummary, reasonText, type Step } from "../core/plan.ts";
import { joinCounts } from "./count.ts";
import { printable } from "./escape.ts";
import { notUsedText } from "./not-used.ts";
import { actionStyles, type Paint } from "./paint.ts";
import { showValue } from "./value.ts";

/** How a plan is shown to people. */
export type PlanView = {
  readonly paint: Paint;
  /** The group (workspace, repo) of a step's identity; null for the whole tenant. */
  readonly groupOf: (step: Step) => string | null;
  readonly showUnchanged: boolean;
  /** How many differing fields an ignore rule covers. */
  readonly ignored: number;
  /** Details of a step's reason: the blocking reference, or the control plane's message. */
  readonly detailOf: (step: Step) => string | null;
  /** The extensions that the control plane lacks. */
  readonly notUsed?: readonly NotUsed[];
};

/** A plan for people: summary first and last, grouped, in dependency order; one line when nothing changes. */
export function planText(plan: Plan, view: PlanView): string {
  const summary = planLine(plan.summary, plan.complete, view.ignored);
  const shown = plan.steps.filter((step) => isShown(step, view));
  if (shown.length === 0) return `${summary}\n`;
  const [orphans, declared] = [shown.filter(isOrphan), shown.filter((step) => !isOrphan(step))];
  const groups = [...Map.groupBy(declared, view.groupOf)].toSorted(byDependency);
  const blocks = groups.map(([group, steps]) => groupText(group, steps, view));
  return [
    `${view.paint("bold", summary)}\n`,
    ...blocks,
    ...orphanText(orphans, view),
    ...notUsedText(view.notUsed ?? [], view.paint),
    `${view.paint("bold", summary)}\n`,
  ].join("\n");
}

/** `Plan: 2 to create, 1 to update, 40 unchanged; 1 drifted, 2 fields ignored`. */
function planLine(summary: PlanSummary, complete: boolean, ignored: number): string {
  const { create, update, keep, ensure, block, orphan, drift, unrecorded, notChecked = 0 } = summary;
  const acting = joinCounts([
    [create, "to create"],
    [update, "to update"],
    [ensure, "to ensure"],
    [block, "blocked"],
  ]);
  const rest = joinCounts([
    [drift, "drifted"],
    [unrecorded, "unrecorded"],
    [notChecked, "not checked"],
    [orphan, orphan === 1 ? "orphan" : "orphans"],
    [ignored, ignored === 1 ? "field ignored" : "fields ignored"],
  ]);
  const head = acting === "" ? `nothing to do, ${keep} unchanged` : `${acting}, ${keep} unchanged`;
  const tail = rest === "" ? "" : `; ${rest}`;
  return `Plan: ${head}${tail}${complete ? "" : " (incomplete: live could not be read in full)"}`;
}

function isShown({ action, reason, changes }: Step, { showUnchanged }: PlanView): boolean {
  if (action !== "keep" || showUnchanged || changes.length > 0) return true;
  return reason !== null && reason !== "by-ledger";
}

function isOrphan({ action }: Step): boolean {
  return action === "orphan";
}

type Group = readonly [string | null, readonly Step[]];

function byDependency([nameA, a]: Group, [nameB, b]: Group): number {
  return firstWave(a) - firstWave(b) || compareText(nameA ?? "", nameB ?? "");
}

function firstWave(steps: readonly Step[]): number {
  return Math.min(...steps.map(({ wave }) => wave));
}

function groupText(group: string | null, steps: readonly Step[], view: PlanView): string {
  const title = view.paint("bold", group === null ? "(tenant)" : printable(group));
  return [title, ...steps.map((step) => stepText(step, view)), ""].join("\n");
}

function stepText(step: Step, { paint, detailOf }: PlanView): string {
  const { action, identity, file, line, reason, risks, notChecked } = step;
  const glyph = paint(actionStyles[action], glyphs[action]);
  const place = file === null ? "" : paint("dim", `  ${printable(file)}:${line ?? 1}`);
  const danger = risks.length === 0 ? "" : paint("red", `  [${risks.join(", ")}]`);
  const head = `  ${glyph} ${printable(identity)}${danger}${place}`;
  const unchecked = notChecked === undefined ? [] : [`      ${paint("dim", printable(notCheckedText(notChecked)))}`];
  const detail = detailOf(step);
  const behind = detail === null ? "" : ` (${printable(detail)})`;
  const because =
    reason === null ? [] : [`      ${paint(actionStyles[action], reason)}: ${reasonText[reason]}${behind}`];
  const changes = action === "create" ? [] : step.changes;
  return [head, ...because, ...unchecked, ...changes.map((change) => changeText(change, paint))].join("\n");
}

/** One field that differs: its values and the cause. */
export function changeText({ label, before, after, cause }: Change, paint: Paint): string {
  const values = `${showValue(before)} → ${showValue(after)}`;
  return `      ${printable(label)}: ${values}  ${paint("dim", cause)}`;
}

function orphanText(orphans: readonly Step[], view: PlanView): readonly string[] {
  if (orphans.length === 0) return [];
  const title = view.paint("bold", "Orphans: recorded, no longer declared; reported, never deleted");
  return [[title, ...orphans.map((step) => stepText(step, view)), ""].join("\n")];
}

/** What is live but neither declared nor recorded, one line each. */
export function unmanagedText(identities: readonly Identity[], paint: Paint): string {
  if (identities.length === 0) return "Unmanaged: nothing\n";
  const lines = identities.map((identity) => `  ${printable(identity)}`).toSorted(compareText);
  return `${[paint("bold", "Unmanaged: live, neither declared nor recorded"), ...lines].join("\n")}\n`;
}
