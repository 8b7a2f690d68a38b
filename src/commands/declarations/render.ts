import { declareCommand } from "../command.ts";
import { sourceFlags } from "../flags/flags.ts";

/** The declaration of `render`. */
export const render = declareCommand({
  name: "render",
  arguments: "[id...]",
  argumentsAre: "identities or globs of them; everything without one",
  summary: "print or write manifests as a target has them, each value with the file and line where it stands",
  flags: ["output", "into", ...sourceFlags],
  examples: ["holdfast render --target prod service/c1:ws1/api", "holdfast render --target prod --into rendered"],
});
