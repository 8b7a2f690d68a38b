import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `adopt`. */
export const adopt = declareCommand({
  name: "adopt",
  arguments: "[id...]",
  argumentsAre: "identities of declared resources, such as service/c1:ws1/api",
  summary: "record live resources as they are, so that apply may change them; writes nothing to the control plane",
  flags: ["all", "target", "output", ...serverFlags],
  examples: ["holdfast adopt service/c1:ws1/api", "holdfast adopt --all"],
});
