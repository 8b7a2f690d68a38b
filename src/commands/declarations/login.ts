import { declareCommand } from "../command.ts";

/** The declaration of `login`. */
export const login = declareCommand({
  name: "login",
  arguments: "",
  summary: "sign in to a control plane in a browser; commands then use that token",
  flags: ["target", "server", "issuer", "clientId", "audience", "scope", "caFile", "requestTimeout", "connectTimeout"],
  examples: [
    "holdfast login --server https://control.example.com --issuer https://login.example.com --client-id holdfast-cli",
    "holdfast login",
  ],
});
