import { declareCommand } from "../command.ts";
import { serverFlags, sourceFlags } from "../flags/flags.ts";

/** The declaration of `drift`. */
export const drift = declareCommand({
  name: "drift",
  arguments: "[path...]",
  summary: "show what was changed outside git; never writes",
  flags: [
    "driftOutput",
    "base",
    "applied",
    "history",
    "writers",
    "detailedExitcode",
    "noDetailedExitcode",
    "allowShrink",
    ...sourceFlags,
    ...serverFlags,
  ],
  examples: ["holdfast drift", "holdfast drift -o json --no-detailed-exitcode"],
});
