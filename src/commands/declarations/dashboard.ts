import { declareCommand } from "../command.ts";

/** The declaration of `dashboard`. */
export const dashboard = declareCommand({
  name: "dashboard",
  arguments: "",
  summary: "serve the page of the dashboard for the local state; it only reads",
  // Where a resource is opened, it is read on the control plane; none is started for that.
  flags: [
    "target",
    "listen",
    "server",
    "tokenFile",
    "caFile",
    "concurrency",
    "requestTimeout",
    "connectTimeout",
    "retryWait",
  ],
  examples: ["holdfast dashboard", "holdfast dashboard --state .holdfast --listen 127.0.0.1:7074"],
});
