import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `why`. */
export const why = declareCommand({
  name: "why",
  arguments: "<id[/pointer]>",
  argumentsAre: "identity of a resource, followed by the JSON Pointer of a field",
  summary: "show where a value comes from: who declared it, who wrote it, who changed it in live",
  flags: ["target", "output", ...serverFlags],
  examples: ["holdfast why service/c1:ws1/api/replicas", "holdfast why service/c1:ws1/api -o json"],
});
