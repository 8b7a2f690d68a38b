import { declareCommand } from "../command.ts";

/** The declaration of `simulate`. */
export const simulate = declareCommand({
  name: "simulate",
  arguments: "",
  summary: "try a change and its revert on a copy of a control plane; needs no token",
  flags: ["snapshot", "base", "driftOutput", "workspace", "strict"],
  examples: ["holdfast simulate --snapshot snapshot.json --base origin/main"],
});
