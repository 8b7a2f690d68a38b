import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `token`. */
export const token = declareCommand({
  name: "token",
  arguments: "<action...>",
  argumentsAre: "create NAME, list, revoke ID, or reissue ACCOUNT",
  summary: "create, list or revoke your personal access tokens, or give a virtual account a new one",
  flags: ["sink", "target", "confirm", "output", ...serverFlags],
  examples: [
    "holdfast token create laptop --sink file",
    "holdfast token list",
    "holdfast token revoke 019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1",
    "holdfast token reissue ci --sink file",
  ],
});
