import { declareCommand } from "../command.ts";

/** The declaration of `logout`. */
export const logout = declareCommand({
  name: "logout",
  arguments: "",
  summary: "end the logins of a control plane: the issuer revokes the tokens, and they are removed here",
  flags: ["target", "server", "caFile", "requestTimeout"],
  examples: ["holdfast logout --server https://control.example.com"],
});
