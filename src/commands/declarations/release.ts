import { declareCommand } from "../command.ts";

/** The declaration of `release`. */
export const release = declareCommand({
  name: "release",
  arguments: "<what>",
  argumentsAre: "identity of a resource, a commit, or stage/ and the name of a stage",
  summary: "end a hold, or allow a commit that was refused because it declares too little",
  flags: ["target"],
  examples: ["holdfast release service/c1:ws1/api", "holdfast release 1f0c9ab", "holdfast release stage/production"],
});
