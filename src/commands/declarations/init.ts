import { declareCommand } from "../command.ts";

/** The declaration of `init`. */
export const init = declareCommand({
  name: "init",
  arguments: "[folder]",
  argumentsAre: "folder to begin in; it is created if it does not exist (default: this one)",
  summary: "begin a source: a configuration, a first workspace and service, and what editors and pipelines need",
  flags: ["workspace", "service", "ci", "yes"],
  examples: ["holdfast init", "holdfast init platform --workspace prod-eu:ranking --service ranker --ci github"],
});
