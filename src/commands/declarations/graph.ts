import { declareCommand } from "../command.ts";
import { sourceFlags } from "../flags/flags.ts";

/** The declaration of `graph`. */
export const graph = declareCommand({
  name: "graph",
  arguments: "[path...]",
  summary: "show which resource refers to which; with a selection, also what depends on it",
  flags: ["graphOutput", ...sourceFlags],
  examples: ["holdfast graph -o mermaid", "holdfast graph --only team/ml -o dot | dot -Tsvg > graph.svg"],
});
