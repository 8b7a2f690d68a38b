import { declareCommand } from "../command.ts";

/** What `snapshot` is called with. */
export const snapshot = declareCommand({
  name: "snapshot",
  arguments: "",
  summary: "write what a control plane has to a file, without values and addresses, for simulate",
  flags: ["out", "public", "names", "target", "server", "tokenFile", "caFile"],
  examples: ["holdfast snapshot --out snapshot.json --server https://control.example.com"],
});
