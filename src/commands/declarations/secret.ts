import { declareCommand } from "../command.ts";

/** The declaration of `secret`. */
export const secret = declareCommand({
  name: "secret",
  arguments: "<action...>",
  argumentsAre: "set GROUP KEY",
  summary: "write a value of a secret group, encrypted, into a SOPS file of the source",
  flags: ["into"],
  examples: [
    "holdfast secret set search index-password",
    "holdfast secret set search index-password --into secrets/search.sops.yaml < password",
  ],
});
