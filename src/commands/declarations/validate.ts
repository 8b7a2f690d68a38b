import { declareCommand } from "../command.ts";
import { sourceFlags } from "../flags/flags.ts";

/** The declaration of `validate`. */
export const validate = declareCommand({
  name: "validate",
  arguments: "[path...]",
  summary: "check manifests offline: schema, identities, references, cycles",
  flags: ["validateOutput", "show", ...sourceFlags],
  examples: ["holdfast validate", "holdfast validate services/api.yaml -o json"],
});
