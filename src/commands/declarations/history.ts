import { declareCommand } from "../command.ts";

/** What `history` is called with. */
export const history = declareCommand({
  name: "history",
  arguments: "",
  summary: "show what became of each commit",
  flags: ["target", "output"],
  examples: ["holdfast history", "holdfast history --target prod -o json"],
});
