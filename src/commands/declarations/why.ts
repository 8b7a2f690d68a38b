import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags.ts";

/** What `why` is called with. */
export const why = declareCommand({
  name: "why",
  arguments: "<id[/pointer]>",
  argumentsAre: "an identity, with the JSON Pointer of a field behind it",
  summary: "show who wanted a value, who wrote it, and who has changed it in live",
  flags: ["target", "output", ...serverFlags],
  examples: ["holdfast why service/c1:ws1/api/replicas", "holdfast why service/c1:ws1/api -o json"],
});
