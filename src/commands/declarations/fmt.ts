import { declareCommand } from "../command.ts";

/** The declaration of `fmt`. */
export const fmt = declareCommand({
  name: "fmt",
  arguments: "[path...]",
  summary: "bring the fields of manifests into canonical order; comments and all else stay",
  flags: ["check", "output"],
  examples: ["holdfast fmt", "holdfast fmt --check services/api.yaml"],
});
