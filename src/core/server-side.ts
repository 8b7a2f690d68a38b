import { contentOf } from "./content.ts";
import { differences, pointerOf } from "./diff.ts";
import { requireRead } from "./manifest.ts";
import type { Change, Plan, Step } from "./plan.ts";
import type { PlanInput, PlanWithDecisions } from "./planner.ts";
import { redactValue } from "./sensitive.ts";

/** The plan with what only the server added or rewrote beside each step's own changes; `after` is the manifest's word. */
export function withServerSide(
  { plan, decisions }: PlanWithDecisions,
  input: Pick<PlanInput, "desired" | "live" | "kindOf" | "shapeOf">,
): Plan {
  const manifests = new Map(input.desired.map(({ manifest }) => [manifest.identity, manifest]));
  const steps = plan.steps.map((step): Step => {
    const [manifest, live, kind] = [
      manifests.get(step.identity),
      input.live.get(step.identity),
      input.kindOf(step.kind),
    ];
    if (manifest === undefined || kind === undefined || live?.state !== "present") return step;
    const shape = input.shapeOf(step.kind);
    const ignored = decisions.get(step.identity)?.ignored ?? [];
    const known = new Set([...step.changes.map(({ path }) => path), ...ignored.map(pointerOf)]);
    const [is, said] = [contentOf(kind, shape, live.row.manifest), contentOf(kind, shape, requireRead(manifest).value)];
    const added = differences(shape, is, said).flatMap(({ tokens, before, after, sensitive }): readonly Change[] => {
      const path = pointerOf(tokens);
      if (known.has(path)) return [];
      const cause = after === undefined ? "default" : "server";
      return [{ path, before: redactValue(before, sensitive), after: redactValue(after, sensitive), cause }];
    });
    return added.length === 0 ? step : { ...step, changes: [...step.changes, ...added] };
  });
  return { ...plan, steps };
}
