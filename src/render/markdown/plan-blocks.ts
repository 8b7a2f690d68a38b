import type { Step } from "../../core/plan/plan.ts";

/** What caused a step, as a review groups steps. */
export type PlanBlockName = "change" | "pending" | "drift" | "unrecorded" | "other";

type PlanBlock = { readonly name: PlanBlockName; readonly title: string; readonly explanation: string | null };

/** The blocks of a review, in their order. */
export const planBlocks: readonly PlanBlock[] = [
  { name: "change", title: "This change", explanation: null },
  {
    name: "pending",
    title: "Merged, not yet applied",
    explanation: "The base has these already, and they were not applied yet.",
  },
  {
    name: "drift",
    title: "Drift",
    explanation: "Somebody changed these in live, behind git's back; applying undoes it.",
  },
  {
    name: "unrecorded",
    title: "Unrecorded",
    explanation: "Merged and not yet applied, or changed in live: nothing is recorded here that tells which.",
  },
  { name: "other", title: "Other", explanation: null },
];

/** The block that a step belongs to; what this change caused together with something else belongs to this change. */
export function blockOf({ causedBy }: Step): PlanBlockName {
  if (causedBy === "mixed") return "change";
  return causedBy ?? "other";
}
