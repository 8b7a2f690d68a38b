import { declareCommand } from "../command.ts";
import { serverFlags } from "../flags/flags.ts";

/** The declaration of `redeploy`. */
export const redeploy = declareCommand({
  name: "redeploy",
  arguments: "<id...>",
  argumentsAre: "identities of declared applications, such as service/c1:ws1/api",
  summary: "deploy the same content again, as a new version, after a failed rollout",
  flags: [
    "force",
    "target",
    "confirm",
    "output",
    "wait",
    "noWait",
    "waitTimeout",
    "allowWindow",
    "allowPolicy",
    "sink",
    "leaseScope",
    ...serverFlags,
  ],
  examples: ["holdfast redeploy service/c1:ws1/api", "holdfast redeploy service/c1:ws1/api --force"],
});
