import type { Stop } from "../../clock/clock.ts";
import { isActedOn } from "../../core/diff/field-cause.ts";
import { pointerIn } from "../../core/diff/pointer.ts";
import { requireKind } from "../../core/kind.ts";
import { requireRead } from "../../core/manifest.ts";
import { withChangePlaces } from "../../core/plan/make-plan.ts";
import type { Change, Plan, Step } from "../../core/plan/plan.ts";
import { kindsByType } from "../../kinds/index.ts";
import { locateFields, type ManifestField } from "../../manifests/read-manifests.ts";
import type { LivePlan } from "../plan.ts";

/** The plan with the places where the values of its changes stand: of all manifests, or of those that patches match. */
export async function locateChanges(
  { plan, decisions, waved }: LivePlan,
  { patchedOnly, signal }: Stop & { readonly patchedOnly: boolean },
): Promise<Plan> {
  const changed = new Map(plan.steps.flatMap((step) => (step.changes.length === 0 ? [] : [[step.identity, step]])));
  if (changed.size === 0) return plan;
  const fields = waved.flatMap(({ manifest }): readonly ChangedField[] => {
    const step = changed.get(manifest.identity);
    if (step === undefined || (patchedOnly && manifest.patched === undefined)) return [];
    const differences = (decisions.get(manifest.identity)?.differences ?? []).filter(({ cause }) => isActedOn(cause));
    const { shape } = requireKind(kindsByType, manifest.kind);
    const places = differences.map(({ tokens }) => pointerIn(shape, [requireRead(manifest).value], tokens));
    return fieldsOf(step, places).map((field) => ({ ...field, manifest }));
  });
  const located = await locateFields(fields, { signal });
  return withChangePlaces(plan, new Map(located.map(({ change, position }) => [change, position])));
}

type ChangedField = ManifestField & { readonly change: Change };

// A whole manifest stands where its step says. What a blocked step shows of the base has no differences of its own.
function fieldsOf({ changes }: Step, places: readonly string[]): readonly Omit<ChangedField, "manifest">[] {
  const isDecided = places.length === changes.length;
  return changes.flatMap((change, at) => {
    const pointer = isDecided ? places[at] : change.after === null ? undefined : change.path;
    return change.path === "" || pointer === undefined ? [] : [{ change, pointer }];
  });
}
