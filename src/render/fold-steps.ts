import { canonical } from "../contract/json.ts";
import type { Change, Step } from "../core/plan/plan.ts";
import { withoutSharedStart } from "./change.ts";

/** Fewer resources with equal changes are shown one by one. */
const MIN_FOLDED = 3;

/** Resources with the same changes; `changes` holds them once. */
export type Fold = { readonly steps: readonly Step[]; readonly changes: readonly Change[] };

/** Groups the updates with the same changes. Steps with risks, and different steps, are not grouped. */
export function foldSteps(steps: readonly Step[]): {
  readonly folds: readonly Fold[];
  readonly others: readonly Step[];
} {
  const groups = Map.groupBy(steps, (step) => (isFoldable(step) ? canonical(step.changes.map(keyOf)) : null));
  const folds = [...groups].flatMap(([key, alike]): Fold[] => {
    const [first] = alike;
    if (key === null || first === undefined || alike.length < MIN_FOLDED) return [];
    return [{ steps: alike, changes: first.changes.map(withoutSharedStart) }];
  });
  const folded = new Set(folds.flatMap((fold) => fold.steps));
  return { folds, others: steps.filter((step) => !folded.has(step)) };
}

function isFoldable({ action, changes, risks, reason }: Step): boolean {
  return action === "update" && risks.length === 0 && reason === null && changes.length > 0;
}

function keyOf(change: Change) {
  const { label, before, after, cause, diff } = withoutSharedStart(change);
  return { label, before, after, cause, diff };
}
