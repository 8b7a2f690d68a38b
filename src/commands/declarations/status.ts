import { declareCommand } from "../command.ts";

/** The declaration of `status`. */
export const status = declareCommand({
  name: "status",
  arguments: "",
  summary: "show what the daemon has done, and what it waits for",
  flags: ["target", "wait", "output"],
  examples: ["holdfast status --target prod -o json", "holdfast status --wait --timeout 600"],
});
