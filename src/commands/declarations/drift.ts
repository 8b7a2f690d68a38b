import { declareCommand } from "../command.ts";
import { serverFlags, sourceFlags } from "../flags/flags.ts";

/** The declaration of `drift`. */
export const drift = declareCommand({
  name: "drift",
  arguments: "[path...]",
  summary: "show what was changed outside git, or propose it for git; never writes to live",
  flags: [
    "driftOutput",
    "base",
    "applied",
    "history",
    "writers",
    "detailedExitcode",
    "noDetailedExitcode",
    "allowShrink",
    "propose",
    "dryRun",
    "forge",
    "repository",
    "apiUrl",
    "forgeTokenFile",
    ...sourceFlags,
    ...serverFlags,
  ],
  examples: ["holdfast drift", "holdfast drift -o json --no-detailed-exitcode", "holdfast drift --propose"],
});
