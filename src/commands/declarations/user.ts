import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `user`. */
export const user = declareCommand({
  name: "user",
  arguments: "<action...>",
  argumentsAre: "add EMAIL, list, or remove EMAIL",
  summary: "add, list or remove users of a control plane; needs tenant-admin",
  flags: ["noToken", "sink", "yes", "target", "confirm", "output", ...serverFlags],
  examples: [
    "holdfast user add ada@example.com --sink file",
    "holdfast user add ada@example.com --no-token",
    "holdfast user list --server https://control.example.com --token-file token",
    "holdfast user remove ada@example.com --yes",
  ],
});
