import { declareCommand } from "../command.ts";

/** The declaration of `new`. */
export const newManifest = declareCommand({
  name: "new",
  arguments: "<kind[/name]>",
  argumentsAre: "a kind of manifest, such as service, with the name that it gets, such as service/c1:ws1/api",
  summary: "print a manifest to begin with: an example with what a kind needs, or with every field",
  flags: ["full", "into", "output"],
  examples: ["holdfast new service/c1:ws1/api --into api.yaml", "holdfast new team --full"],
});
