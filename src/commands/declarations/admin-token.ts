// src/commands/declarations: the arguments, flags and examples of each command. See docs/architecture.md#source-folders.

import { declareCommand } from "../command.ts";

/** The declaration of `admin-token`. */
export const adminToken = declareCommand({
  name: "admin-token",
  arguments: "<action>",
  argumentsAre: "rotate: make a new token, while the former one stays valid; end-former: end all but the newest",
  summary: "replace the admin token, also while the control plane runs",
  flags: ["data", "database"],
  examples: [
    "holdfast admin-token rotate --data /var/lib/holdfast",
    "holdfast admin-token end-former --data /var/lib/holdfast",
  ],
});
