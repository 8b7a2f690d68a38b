import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `forget`. */
export const forget = declareCommand({
  name: "forget",
  arguments: "<id...>",
  argumentsAre: "identities of orphans, such as service/c1:ws1/api",
  summary: "drop the records of resources that git no longer declares; the live ones stay",
  flags: ["target", "output", ...serverFlags],
  examples: ["holdfast forget service/c1:ws1/api"],
});
