import type { NotChecked } from "../contract/generated/output.ts";
import type { Step } from "../core/plan/plan.ts";
import { joinCounts } from "./count-text.ts";

/** For one step, and for several. */
const texts: { readonly [reason in NotChecked["reason"]]: readonly [one: string, many: string] } = {
  "depends-on": ["refers to what does not exist yet", "refer to what does not exist yet"],
  unproven: [
    "waits until a dry run is known to change nothing here",
    "wait until a dry run is known to change nothing here",
  ],
  "needs-write": ["needs the right to write", "need the right to write"],
  unsupported: ["is of a kind without a dry run", "are of kinds without a dry run"],
  unanswered: ["got no answer", "got no answer"],
  skipped: ["by --no-dry-run", "by --no-dry-run"],
};

const reasons = Object.keys(texts) as readonly NotChecked["reason"][];

/** How many steps no dry run has checked, by reason, as one sentence; empty when all were checked. */
export function notCheckedCounts(steps: readonly Step[]): string {
  const found = steps.flatMap(({ notChecked }) => notChecked?.reason ?? []);
  if (found.length === 0) return "";
  const counts = reasons.map((reason) => {
    const { length } = found.filter((one) => one === reason);
    return [length, texts[reason][length === 1 ? 0 : 1]] as const;
  });
  return `Not dry-run: ${joinCounts(counts)}`;
}
