import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `resolve`. */
export const resolve = declareCommand({
  name: "resolve",
  arguments: "[id...]",
  argumentsAre: "identities with open writes, such as team/ml (default: all of them)",
  summary: "show the writes whose outcome is unknown, and close them with --as",
  flags: ["as", "yes", "target", "sink", "output", ...serverFlags],
  examples: ["holdfast resolve", "holdfast resolve team/ml --as applied", "holdfast resolve team/ml --as refused"],
});
