import type { Json } from "../../src/contract/json.ts";
import { textDiff } from "../../src/core/diff/text-diff.ts";
import { splitIdentity } from "../../src/core/manifest.ts";
import { type Change, type Plan, type Step, summarise } from "../../src/core/plan/plan.ts";

/** The summary of a plan without a step, over no resource. */
export const emptySummary = {
  create: 0,
  update: 0,
  keep: 0,
  ensure: 0,
  block: 0,
  orphan: 0,
  drift: 0,
  unrecorded: 0,
  invalid: 0,
  refused: 0,
} as const;

/** One field that differs, as plans have it. */
export function sampleChange(label: string, before: Json, after: Json, cause: Change["cause"] = "manifest"): Change {
  return { path: `/${label.replaceAll(".", "/")}`, label, before, after, cause, diff: textDiff(before, after) };
}

/** A step that updates a resource because of this change, unless the fields say otherwise. */
export function sampleStep(identity: string, fields: Partial<Step> = {}): Step {
  const { kind } = splitIdentity(identity);
  const place = { file: `${kind}s.yaml`, line: 12, wave: 1 };
  const none = { changes: [], patch: [], reason: null, risks: [] };
  return { action: "update", kind, identity, ...place, ...none, causedBy: "change", ...fields };
}

/** A plan of these steps, with 31 resources that stay as they are. */
export function samplePlan(steps: readonly Step[], fields: Partial<Plan> = {}): Plan {
  return {
    format_version: "2.2",
    revision: "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d",
    server: "https://control.example.com",
    complete: true,
    summary: { ...summarise(steps, 0), keep: 31 },
    steps,
    diagnostics: [],
    checksum: "sha256:0",
    ...fields,
  };
}
