import type { Step } from "../../core/plan/plan.ts";

/** The groups of a review, by the cause of a step. */
export type PlanBlockName = "change" | "pending" | "drift" | "unrecorded" | "orphans" | "other";
/** The blocks of a review, in order. */
export const planBlocks: readonly {
  readonly name: PlanBlockName;
  readonly title: string;
  readonly explanation: string | null;
}[] = [
  { name: "change", title: "This change", explanation: null },
  {
    name: "pending",
    title: "Merged, not yet applied",
    explanation: "The base already has these, and they were not applied yet.",
  },
  {
    name: "drift",
    title: "Drift",
    explanation: "These were changed in live, outside git; applying reverts them.",
  },
  {
    name: "unrecorded",
    title: "Unrecorded",
    explanation: "Merged and not yet applied, or changed in live: no record shows which.",
  },
  { name: "orphans", title: "Orphans", explanation: null },
  { name: "other", title: "Other", explanation: null },
];

/** The block of a step; a step with mixed causes belongs to this change. */
export function blockOf({ action, causedBy }: Step): PlanBlockName {
  if (action === "orphan" && causedBy !== "change") return "orphans";
  if (causedBy === "mixed") return "change";
  return causedBy ?? "other";
}

/** The subject of a review; of a pull request, its own steps are counted apart from the rest. */
export type ReviewSubject = "pull request" | "change";
