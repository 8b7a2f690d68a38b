import { declareCommand } from "../command.ts";

/** The declaration of `schema`. */
export const schema = declareCommand({
  name: "schema",
  arguments: "[kind]",
  argumentsAre: "a kind of manifest, config for holdfast.yaml, or policy (default: manifests of every kind)",
  summary: "print the JSON Schema that editors check and complete manifests with",
  flags: ["into"],
  examples: ["holdfast schema --into .holdfast.schema.json", "holdfast schema service"],
});
