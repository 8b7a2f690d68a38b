import { canonical } from "../contract/json.ts";
import type { Change, Step } from "../core/plan/plan.ts";
import { withoutSharedStart } from "./change.ts";

/** Equal changes of fewer resources are shown one by one. */
const MIN_FOLDED = 3;

/** Resources in which the same changes are made: `changes` says what they have in common. */
export type Fold = { readonly steps: readonly Step[]; readonly changes: readonly Change[] };

/** Puts together the updates that make the same changes; what is dangerous, or differs, stays on its own. */
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
