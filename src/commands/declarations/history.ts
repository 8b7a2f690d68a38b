import { declareCommand } from "../command.ts";

/** The declaration of `history`. */
export const history = declareCommand({
  name: "history",
  arguments: "[id...]",
  argumentsAre: "identities of resources, such as service/c1:ws1/api; default: what became of each commit",
  summary: "show what became of each commit, of resources, or when live had drifted",
  flags: ["target", "drifted", "changes", "output"],
  examples: [
    "holdfast history",
    "holdfast history service/c1:ws1/api",
    "holdfast history --changes",
    "holdfast history --drifted -o json",
  ],
});
