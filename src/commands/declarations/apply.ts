import { declareCommand } from "../command.ts";
import { serverFlags, sourceFlags } from "../flags/flags.ts";

/** The declaration of `apply`. */
export const apply = declareCommand({
  name: "apply",
  arguments: "[path...]",
  summary: "change the live resources to what the manifests declare",
  flags: [
    "yes",
    "confirm",
    "plan",
    "output",
    "wait",
    "noWait",
    "waitTimeout",
    "failFast",
    "applied",
    "history",
    "writers",
    "allowShrink",
    "noDryRun",
    "allowAdopt",
    "allowPrivilege",
    "allowPolicy",
    "allowWindow",
    "allowOrder",
    "sink",
    "leaseScope",
    "ref",
    ...sourceFlags,
    ...serverFlags,
  ],
  examples: ["holdfast apply --yes", "holdfast apply --plan plan.json"],
});
