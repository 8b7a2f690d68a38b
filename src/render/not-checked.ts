import type { NotChecked } from "../contract/generated/output.ts";
import type { Step } from "../core/plan/plan.ts";
import { joinCounts } from "./count-text.ts";

const texts: { readonly [reason in NotChecked["reason"]]: string } = {
  "depends-on": "refer to what does not exist yet",
  unproven: "wait until a dry run is known to change nothing here",
  "needs-write": "need the right to write",
  unsupported: "are of kinds without a dry run",
  unanswered: "got no answer",
  skipped: "by --no-dry-run",
};

const reasons = Object.keys(texts) as readonly NotChecked["reason"][];

/** How many steps no dry run has checked, by reason, as one sentence; empty when all were checked. */
export function notCheckedCounts(steps: readonly Step[]): string {
  const found = steps.flatMap(({ notChecked }) => notChecked?.reason ?? []);
  if (found.length === 0) return "";
  const counts = reasons.map((reason) => [found.filter((one) => one === reason).length, texts[reason]] as const);
  return `Not dry-run: ${joinCounts(counts)}`;
}
