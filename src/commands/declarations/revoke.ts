import { declareCommand } from "../command.ts";

/** The declaration of `revoke`. */
export const revoke = declareCommand({
  name: "revoke",
  arguments: "<subject...>",
  argumentsAre: "whose tokens, such as virtualaccount:ci or user:dev@example.com",
  summary: "revoke tokens, also while the control plane runs",
  flags: ["data", "database"],
  examples: ["holdfast revoke virtualaccount:ci --data /var/lib/holdfast"],
});
