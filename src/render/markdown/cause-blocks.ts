import type { Step } from "../../core/plan/plan.ts";

/** Whose change a step is, as a review tells it apart. */
export type BlockName = "change" | "pending" | "drift" | "unrecorded" | "other";

type Titled = { readonly name: BlockName; readonly title: string; readonly says: string | null };

/** The blocks of a review, in their order. */
export const causeBlocks: readonly Titled[] = [
  { name: "change", title: "This change", says: null },
  {
    name: "pending",
    title: "Merged, not yet applied",
    says: "The base has these already, and they were not applied yet.",
  },
  { name: "drift", title: "Drift", says: "Somebody changed these in live, behind git's back; applying undoes it." },
  {
    name: "unrecorded",
    title: "Unrecorded",
    says: "Merged and not yet applied, or changed in live: nothing is recorded here that tells which.",
  },
  { name: "other", title: "Other", says: null },
];

/** The block that a step belongs to; what this change and something else caused is this change's. */
export function blockOf({ causedBy }: Step): BlockName {
  if (causedBy === "mixed") return "change";
  return causedBy ?? "other";
}
