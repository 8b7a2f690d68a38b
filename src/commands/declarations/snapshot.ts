import { declareCommand } from "../command.ts";

/** The declaration of `snapshot`. */
export const snapshot = declareCommand({
  name: "snapshot",
  arguments: "",
  summary: "write a copy of a control plane, without values and addresses, to a file for simulate",
  flags: ["out", "public", "names", "target", "server", "tokenFile", "caFile"],
  examples: ["holdfast snapshot --out snapshot.json --server https://control.example.com"],
});
