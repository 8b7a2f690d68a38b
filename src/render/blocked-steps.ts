import { canonical } from "../contract/json.ts";
import { splitIdentity } from "../core/manifest.ts";
import type { BlockedStep } from "../core/plan/blocked-steps.ts";
import { glyphs, type Reason, reasonText, type Step } from "../core/plan/plan.ts";
import { changeLines } from "./change.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { writerText } from "./last-write.ts";
import { actionStyles } from "./paint.ts";
import { type StepView, titleLine } from "./step.ts";
import { wordsIn, wrapWords } from "./wrap.ts";

/** Fewer resources are shown one by one: those that need the same, and those that have only the reason in common. */
const MIN_FOLDED = { needs: 2, reason: 3 };
const MAX_NAME_LINES = 6;
const INDENT = "    ";

/** Layout of blocked steps. */
export type BlockedView = StepView & {
  /** Why and where each blocked step is blocked. */
  readonly blocked: readonly BlockedStep[];
  /** Whether steps with the same cause are shown together. */
  readonly folds: boolean;
};

type Blocked = { readonly step: Step; readonly cause: BlockedStep | undefined };

/** The blocked steps of a plan, those with the same cause together; each at the line of the field that blocks it. */
export function blockedText(steps: readonly Step[], view: BlockedView): readonly string[] {
  if (steps.length === 0) return [];
  const causes = new Map(view.blocked.map((one) => [one.identity, one]));
  const all = steps.map((step): Blocked => ({ step, cause: causes.get(step.identity) }));
  const lines = [...Map.groupBy(all, (one) => keyOf(one, view)).values()].flatMap((alike) =>
    isFolded(alike) ? foldLines(alike, view) : alike.flatMap((one) => oneLines(one, view)),
  );
  return [[view.paint("bold", `Blocked: ${steps.length}`), ...lines, ""].join("\n")];
}

function keyOf({ step, cause }: Blocked, { folds }: BlockedView): string {
  if (!folds || cause === undefined) return step.identity;
  return canonical([step.reason, cause.needs ?? cause.message ?? null]);
}

function isFolded(alike: readonly Blocked[]): boolean {
  const [first] = alike;
  return alike.length >= (first?.cause?.needs == null ? MIN_FOLDED.reason : MIN_FOLDED.needs);
}

function oneLines({ step, cause }: Blocked, view: BlockedView): readonly string[] {
  const { paint, width } = view;
  const title = titleLine(headIn(view), step.identity, placeOf({ step, cause }), view);
  const reason = step.reason === null ? [] : reasonLines(step.reason, cause?.message ?? cause?.needs ?? "", view);
  return [
    title,
    ...reason,
    ...changeLines(step.changes, { paint, width, by: writerText(step, view.now), file: step.file }),
  ];
}

function foldLines(alike: readonly Blocked[], view: BlockedView): readonly string[] {
  const { paint, width } = view;
  const [{ step: first, cause } = { step: undefined, cause: undefined }] = alike;
  if (first === undefined || first.reason === null) return [];
  const needs = cause?.needs ?? null;
  const title = needs === null ? `${whatOf(alike)}: ${first.reason}` : `${whatOf(alike)} need ${needs}`;
  const reason =
    needs === null || cause?.message
      ? reasonLines(first.reason, cause?.message ?? "", view)
      : needLines(first.reason, view);
  const [changed, others] = [alike.filter(hasChanges), alike.filter((one) => !hasChanges(one))];
  return [
    ...wrapWords([headIn(view).trimEnd(), ...wordsIn(printable(title), width)], {
      indent: "",
      nextIndent: "  ",
      width,
    }),
    ...reason,
    ...nameLines(others, view),
    ...changed.flatMap((one) => [
      titleLine(INDENT, one.step.identity, placeOf(one), { paint, width: width - 2 }),
      ...changeLines(one.step.changes, { paint, width, by: writerText(one.step, view.now), file: one.step.file }),
    ]),
  ];
}

function headIn({ paint }: BlockedView): string {
  return `${paint(actionStyles.block, glyphs.block)} `;
}

function hasChanges({ step }: Blocked): boolean {
  return step.changes.length > 0;
}

function commonKind(alike: readonly Blocked[]): string | null {
  const [kind = null, ...others] = new Set(alike.map(({ step }) => step.kind));
  return others.length === 0 ? kind : null;
}

// `3 services`, `4 resources`.
function whatOf(alike: readonly Blocked[]): string {
  return count(alike.length, commonKind(alike) ?? "resource");
}

function nameLines(alike: readonly Blocked[], { paint, width }: BlockedView): readonly string[] {
  const kind = commonKind(alike);
  const names = alike.map((one) => {
    const place = placeOf(one);
    const { identity } = one.step;
    return printable([kind === null ? identity : splitIdentity(identity).key, place].join(" ").trim());
  });
  if (names.length === 0) return [];
  const lines = wrapWords(names.join(", "), { indent: INDENT, width });
  const more = lines.length > MAX_NAME_LINES ? [`${INDENT}… --no-fold shows each of them`] : [];
  return [...lines.slice(0, MAX_NAME_LINES), ...more].map((line) => paint("dim", line));
}

/** What is said of a resource that several steps wait for. */
const needTexts: { readonly [reason in Reason]?: string } = {
  dependency: "it is blocked or invalid: fix that first",
  "reference-absent": "it is neither declared here nor live",
};

function needLines(reason: Reason, view: BlockedView): readonly string[] {
  return wrapped(`${reason}: ${needTexts[reason] ?? reasonText[reason]}`, view);
}

// The message of the control plane, of a guard or of a gate says more than the reason.
function reasonLines(reason: Reason, message: string, view: BlockedView): readonly string[] {
  const own = reason === "refused" || reason === "guard" || reason === "gate" || reason === "policy";
  const because = message === "" ? "" : ` (${message})`;
  return wrapped(`${reason}: ${own && message !== "" ? message : reasonText[reason] + because}`, view);
}

function wrapped(text: string, { paint, width }: BlockedView): readonly string[] {
  const lines = wrapWords(wordsIn(printable(text), width - INDENT.length), { indent: INDENT, width });
  return lines.map((line) => paint(actionStyles.block, line));
}

function placeOf({ step, cause }: Blocked): string {
  const { file, line } = cause ?? step;
  return file === null ? "" : `${file}:${line ?? 1}`;
}
