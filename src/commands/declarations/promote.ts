import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `promote`. */
export const promote = declareCommand({
  name: "promote",
  arguments: "<from> <to> [id...]",
  argumentsAre: [
    "the target to promote from",
    "the target to promote to",
    "identities in the first (default: everything that can be promoted)",
  ],
  summary: "propose the versions that are live and healthy in one target for another, as a pull request",
  flags: ["dryRun", "forge", "repository", "apiUrl", "forgeTokenFile", "output", ...serverFlags],
  examples: ["holdfast promote staging prod --dry-run", "holdfast promote staging prod service/c1:ws1/api"],
});
