import { declareCommand } from "../command.ts";

/** The declaration of `policy`. */
export const policy = declareCommand({
  name: "policy",
  arguments: "<action...>",
  argumentsAre: "test, or test FOLDER: by default the policies of the source and of the operator",
  summary: "run the tests beside policies, offline",
  flags: ["validateOutput", "target"],
  examples: ["holdfast policy test", "holdfast policy test policies", "holdfast policy test -o sarif"],
});
