import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `init`. */
export const init = declareCommand({
  name: "init",
  arguments: "[folder]",
  argumentsAre: "folder to begin in; it is created if it does not exist (default: this one)",
  summary: "begin a source: a configuration, first manifests, and what editors and pipelines need",
  flags: ["fromLive", "workspace", "service", "ci", "yes", ...serverFlags],
  examples: [
    "holdfast init",
    "holdfast init platform --from-live",
    "holdfast init platform --workspace prod-eu:ranking --service ranker --ci github",
  ],
});
