import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags.ts";

/** What `resolve` is called with. */
export const resolve = declareCommand({
  name: "resolve",
  arguments: "[id...]",
  argumentsAre: "identities whose writes are open, such as team/ml; all of them without",
  summary: "show what is known of a write whose outcome is unknown, and close it with --as",
  flags: ["as", "yes", "target", "sink", "output", ...serverFlags],
  examples: ["holdfast resolve", "holdfast resolve team/ml --as applied", "holdfast resolve team/ml --as refused"],
});
