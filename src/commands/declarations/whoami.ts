import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `whoami`. */
export const whoami = declareCommand({
  name: "whoami",
  arguments: "",
  summary: "show whose token is used, and all its roles",
  flags: ["target", "output", ...serverFlags],
  examples: ["holdfast whoami --server https://control.example.com --token-file token", "holdfast whoami -o json"],
});
