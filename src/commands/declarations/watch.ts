import { declareCommand } from "../command.ts";
import { serverFlags, sourceFlags } from "../flags/flags.ts";

/** The declaration of `watch`. */
export const watch = declareCommand({
  name: "watch",
  arguments: "[path...]",
  summary: "run as a daemon that keeps the live resources equal to the manifests",
  flags: [
    "interval",
    "workers",
    "writers",
    "output",
    "yes",
    "wait",
    "noWait",
    "waitTimeout",
    "allowShrink",
    "noDryRun",
    "allowAdopt",
    "allowPrivilege",
    "allowPolicy",
    "sink",
    "leaseScope",
    "leaseSeconds",
    "listen",
    "ref",
    ...sourceFlags,
    ...serverFlags,
  ],
  examples: ["holdfast watch --embedded", "holdfast watch --interval 300 --sink file"],
});
