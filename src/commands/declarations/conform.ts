import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `conform`. */
export const conform = declareCommand({
  name: "conform",
  arguments: "",
  summary: "check a control plane against the interface, and say what will not work there",
  flags: [
    "application",
    "dryRun",
    "write",
    "workspace",
    "mlRepo",
    "writeTenant",
    "yes",
    "strict",
    "waitTimeout",
    "target",
    "confirm",
    "output",
    ...serverFlags,
  ],
  examples: [
    "holdfast conform --server https://control.example.com --token-file token",
    "holdfast conform --dry-run -o json",
    "holdfast conform --dry-run --write --workspace c1:sandbox --ml-repo sandbox",
  ],
});
