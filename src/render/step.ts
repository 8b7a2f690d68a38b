import type { PolicyFinding } from "../contract/generated/output.ts";
import { canonical } from "../contract/json.ts";
import { gateAnswerText } from "../core/gates/content-gate.ts";
import { guardDetail } from "../core/guards/step-guards.ts";
import { splitIdentity } from "../core/manifest.ts";
import { type Change, glyphs, notCheckedText, type Plan, reasonText, type Step } from "../core/plan/plan.ts";
import { findingText, policyFlag, remedyText } from "../core/policies/policy.ts";
import { changeLines, patchPlace, withoutSharedStart } from "./change.ts";
import { contentLines } from "./created-content.ts";
import { printable } from "./escape.ts";
import { closedFirst } from "./gate-verdict.ts";
import { writerText } from "./last-write.ts";
import { actionStyles, type Paint } from "./paint.ts";
import { columnsOf, cutEnd, cutStart, padColumns } from "./text-width.ts";
import { wrapWords } from "./wrap.ts";

/** Layout of a step. */
export type StepView = {
  readonly paint: Paint;
  readonly width: number;
  /** The current time in epoch milliseconds, to show ages; null to show timestamps. */
  readonly now: number | null;
  /** Whether each step says why no dry run has checked it. @default false */
  readonly showPreflight?: boolean;
  /** Details of a step's reason: the blocking reference, or the control plane's message. */
  readonly detailOf: (step: Step) => string | null;
};

/** Fewer resources with equal changes are shown one by one. */
const MIN_FOLDED = 3;

/** Resources with the same changes; `changes` holds them once. */
export type Fold = { readonly steps: readonly Step[]; readonly changes: readonly Change[] };

/** One step: the action, the resource, its position, and the differing fields. */
export function stepLines(step: Step, group: string | null, view: StepView): readonly string[] {
  const { paint, width } = view;
  const { action, identity, changes, risks } = step;
  const head = `${paint(actionStyles[action], glyphs[action])} `;
  const words = [paint("red", "danger"), ...`    ${risks.join(" · ")}`.split(" ")];
  const danger = risks.length === 0 ? [] : wrapWords(words, { indent: "    ", nextIndent: " ".repeat(15), width });
  const [first] = changes;
  const content = action === "create" && first?.path === "" ? contentLines(first.after, identity, view) : null;
  const rows = content ?? changeLines(changes, { paint, width, by: writerText(step, view.now), file: step.file });
  return [
    titleLine(head, nameIn(group, identity), placeOf(step), view),
    ...danger,
    ...guardLines(step, view),
    ...policyLines(step.policies ?? [], { ...view, indent: "    " }),
    ...gateLines(step, view),
    ...reasonLines(step, view),
    ...notCheckedLines(step, view),
    ...rows,
  ];
}

/** Two texts on a line, the second one from the middle of the terminal, both cut if too wide. */
export function titleLine(
  head: string,
  name: string,
  place: string,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): string {
  const room = width - 2;
  const shownName = cutEnd(printable(name), room);
  if (place === "") return head + shownName;
  const column = Math.floor(width / 2) - 2;
  const padded = padColumns(shownName, column - 1);
  const left = room - columnsOf(padded) - 1;
  if (left < 12) return `${head}${shownName}\n    ${paint("dim", cutStart(printable(place), width - 4))}`;
  return `${head}${padded} ${paint("dim", cutStart(printable(place), left))}`;
}

/** A resource's name without the name of its group, which its title already shows. */
export function nameIn(group: string | null, identity: string): string {
  const { kind, key } = splitIdentity(identity);
  return group !== null && key.startsWith(`${group}/`) ? `${kind}/${key.slice(group.length + 1)}` : identity;
}

function placeOf({ file, line }: Step): string {
  return file === null ? "" : `${file}:${line ?? 1}`;
}

function notCheckedLines({ notChecked }: Step, { paint, width, showPreflight = false }: StepView): readonly string[] {
  if (notChecked === undefined || !showPreflight) return [];
  const lines = wrapWords(printable(notCheckedText(notChecked)), { indent: "    ", width });
  return lines.map((line) => paint("dim", line));
}

/** What each gate says of the content of a step. */
function gateLines({ gates = [] }: Step, { paint, width }: StepView): readonly string[] {
  return closedFirst(gates).flatMap((gate) => {
    const text = printable(`gate ${gateAnswerText(gate)}`);
    return wrapWords(text, { indent: "    ", nextIndent: "      ", width }).map((line) =>
      paint(gate.verdict === "pass" ? "dim" : "red", line),
    );
  });
}

function reasonLines(step: Step, { paint, width, detailOf }: StepView): readonly string[] {
  if (step.reason === null) return [];
  const detail = detailOf(step);
  const because = detail === null ? "" : ` (${printable(detail)})`;
  const lines = wrapWords(`${step.reason}: ${reasonText[step.reason]}${because}`, { indent: "    ", width });
  return lines.map((line) => paint(actionStyles[step.action], line));
}

/** Why an apply without a person refuses the step, and what allows it. */
function guardLines(
  { guard, action }: Step,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  // What is missing from the source is refused as a whole, and policies have lines of their own.
  if (guard === undefined || guard.dangers.length === 0 || action === "orphan") return [];
  return wrapWords(`guard: ${printable(guardDetail(guard.dangers))}`, { indent: "    ", width }).map((line) =>
    paint("red", line),
  );
}

/** What policies find, and what allows it. */
export function policyLines(
  findings: readonly PolicyFinding[],
  { paint, width, indent }: { readonly paint: Paint; readonly width: number; readonly indent: string },
): readonly string[] {
  return findings.flatMap((finding) => {
    const { severity } = finding;
    const remedy = severity === "warn" ? "" : `; ${remedyText([finding])}`;
    const text = `${findingText(finding)}${remedy}`;
    const lines = wrapWords(printable(text), { indent, nextIndent: `${indent}  `, width });
    return lines.map((line) => paint(severity === "warn" ? "yellow" : "red", line));
  });
}

/** `12 steps need --allow-privilege`: what guards refuse, by what allows it. */
export function guardCounts({
  summary: { refused },
  steps,
  policies = [],
}: Plan): readonly (readonly [number, string])[] {
  const guarded = steps.flatMap(({ guard }) => (guard === undefined ? [] : [guard]));
  const isDenying = ({ severity }: PolicyFinding): boolean => severity === "deny";
  const denied = steps.filter(({ guard, policies: own = [] }) => guard?.isDenied && own.some(isDenying)).length;
  const denying = policies.filter(isDenying).length;
  const ofPlan = new Set(policies.map(({ name }) => policyFlag(name)));
  const needs = guarded.flatMap(({ flags, isDenied = false }) =>
    flags.length === 0 && !isDenied ? ["a person at a terminal"] : flags,
  );
  // A selection has no steps for what is missing from the source.
  const missing = Array.from({ length: refused - guarded.length }, () => "--allow-shrink");
  const asked = new Set(needs.filter((need) => ofPlan.has(need)));
  const counts = Map.groupBy([...needs.filter((need) => !ofPlan.has(need)), ...missing], (need) => need);
  const texts = [...counts].map(([need, { length }]) => {
    const what = need === "--allow-shrink" ? "missing from the source" : length === 1 ? "step" : "steps";
    return [length, `${what} ${length === 1 ? "needs" : "need"} ${printable(need)}`] as const;
  });
  return [
    [denied, `${denied === 1 ? "step is" : "steps are"} denied by policies`],
    [denying, `${denying === 1 ? "policy over the plan denies" : "policies over the plan deny"} it`],
    ...texts,
    ...[...asked].map((need) => [1, `policy over the plan needs ${printable(need)}`] as const),
  ];
}

/** Groups the updates with the same changes. Steps with risks, and different steps, are not grouped. */
export function foldSteps(steps: readonly Step[]): {
  readonly folds: readonly Fold[];
  readonly others: readonly Step[];
} {
  const groups = Map.groupBy(steps, (step) =>
    isFoldable(step) ? canonical(step.changes.map((change) => keyOf(change, step))) : null,
  );
  const folds = [...groups].flatMap(([key, alike]): Fold[] => {
    const [first] = alike;
    if (key === null || first === undefined || alike.length < MIN_FOLDED) return [];
    const changes = first.changes.map(withoutSharedStart).map((change) => atPatch(change, first));
    return [{ steps: alike, changes }];
  });
  const folded = new Set(folds.flatMap((fold) => fold.steps));
  return { folds, others: steps.filter((step) => !folded.has(step)) };
}

function isFoldable({ action, changes, risks, reason, policies = [] }: Step): boolean {
  return action === "update" && risks.length + policies.length === 0 && reason === null && changes.length > 0;
}

function keyOf(change: Change, { file }: Step) {
  const { label, before, after, cause, diff } = withoutSharedStart(change);
  return { label, before, after, cause, diff, place: patchPlace(change, file) };
}

// Manifests have no place in common, and a patch may match all of them.
function atPatch(change: Change, { file }: Step): Change {
  if (patchPlace(change, file) !== null) return change;
  const { file: _, line: __, ...rest } = change;
  return rest;
}
