import { declareCommand } from "../command.ts";

/** The declaration of `history`. */
export const history = declareCommand({
  name: "history",
  arguments: "",
  summary: "show what became of each commit",
  flags: ["target", "output"],
  examples: ["holdfast history", "holdfast history --target prod -o json"],
});
