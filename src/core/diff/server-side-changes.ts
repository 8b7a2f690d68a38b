import { differences, labelOf } from "../../model/differences.ts";
import { requireRead } from "../manifest.ts";
import type { Change, Plan, Step } from "../plan/plan.ts";
import type { PlanInput, PlanWithDecisions } from "../plan/plan-input.ts";
import { changeOf } from "./change.ts";
import { contentOf } from "./compared-content.ts";

/**
 * The plan, with the fields that only the server added or rewrote next to each step's own changes. `after` is the
 * manifest's value.
 */
export function withServerSide(
  { plan, decisions }: PlanWithDecisions,
  input: Pick<PlanInput, "desired" | "live" | "kinds">,
): Plan {
  const manifests = new Map(input.desired.map(({ manifest }) => [manifest.identity, manifest]));
  const steps = plan.steps.map((step): Step => {
    const [manifest, live, kind] = [
      manifests.get(step.identity),
      input.live.get(step.identity),
      input.kinds.get(step.kind),
    ];
    if (manifest === undefined || kind === undefined || live?.state !== "present") return step;
    const { shape } = kind;
    const ignored = decisions.get(step.identity)?.ignored ?? [];
    const isKnown = new Set([
      ...step.changes.map(({ label }) => label),
      ...ignored.map((path) => labelOf(shape, path)),
    ]);
    const { value } = requireRead(manifest);
    const [is, said] = [contentOf(kind, live.row.manifest), contentOf(kind, value)];
    const sides = { shape, manifest: value, live: live.row.manifest };
    const added = differences(shape, is, said).flatMap((difference): readonly Change[] => {
      if (isKnown.has(labelOf(shape, difference.tokens))) return [];
      return [changeOf(difference, difference.after === undefined ? "default" : "server", sides)];
    });
    return added.length === 0 ? step : { ...step, changes: [...step.changes, ...added] };
  });
  return { ...plan, steps };
}
