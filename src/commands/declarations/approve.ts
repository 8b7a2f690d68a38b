import { declareCommand } from "../command.ts";

/** The declaration of `approve`. */
export const approve = declareCommand({
  name: "approve",
  arguments: "<plan>",
  argumentsAre: "the file of plan --out; the signature is added to the file PLAN.approvals",
  summary: "sign a plan with an ssh key, so that apply --plan takes it",
  flags: ["key", "yes", "output"],
  examples: ["holdfast approve plan.json", "holdfast approve plan.json --key ~/.ssh/id_ed25519"],
});
