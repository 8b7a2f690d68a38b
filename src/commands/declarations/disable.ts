import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `disable`. */
export const disable = declareCommand({
  name: "disable",
  arguments: "<subject...>",
  argumentsAre: "who gets no token again, such as virtualaccount:ci or user:dev@example.com",
  summary: "end the tokens of accounts or users for good; needs tenant-admin",
  flags: ["yes", "target", "confirm", ...serverFlags],
  examples: ["holdfast disable user:dev@example.com --server https://control.example.com --token-file token"],
});
