import { declareCommand } from "../command.ts";
import { serverFlags, sourceFlags } from "../flags/flags.ts";

/** The declaration of `plan`. */
export const plan = declareCommand({
  name: "plan",
  arguments: "[path...]",
  summary: "show what apply would change, and why; writes nothing",
  flags: [
    "planOutput",
    "out",
    "base",
    "applied",
    "history",
    "writers",
    "show",
    "noFold",
    "detailedExitcode",
    "gate",
    "allowShrink",
    "noDryRun",
    "allowAdopt",
    "allowPrivilege",
    "allowPolicy",
    "sink",
    "ref",
    ...sourceFlags,
    ...serverFlags,
  ],
  examples: ["holdfast plan --embedded", "holdfast plan --base origin/main --out plan.json"],
});
