import { declareCommand } from "../command.ts";

/** The declaration of `backup`. */
export const backup = declareCommand({
  name: "backup",
  arguments: "<file>",
  argumentsAre: "file to create; it must not exist",
  summary: "copy the control plane's data to a file, also while it runs",
  flags: ["data", "database"],
  examples: ["holdfast backup --data /var/lib/holdfast /backup/2026-11-30.db"],
});
