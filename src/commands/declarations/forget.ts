import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags.ts";

/** What `forget` is called with. */
export const forget = declareCommand({
  name: "forget",
  arguments: "<id...>",
  argumentsAre: "identities of orphans, such as service/c1:ws1/api",
  summary: "drop the record of what is declared no more; what is live stays",
  flags: ["target", "output", ...serverFlags],
  examples: ["holdfast forget service/c1:ws1/api"],
});
